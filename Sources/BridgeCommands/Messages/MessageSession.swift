import BridgeErrors
import BridgeReactor
import BridgeTerminal
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket

/// Standard input as messages, and messages as standard output, over all connections of a run: what
/// was read and not sent waits for the next one.
final class MessageSession: Sendable {
  /// The end of the session.
  enum End: Sendable {
    /// Input has ended, and the peer has had time to answer.
    case finished
    /// The input is no message.
    case badInput(AppError)
    case outputClosed
  }

  private struct State {
    var framing: MessageFraming
    var unsent: [WebSocketMessage] = []
    var hasEnded = false
    var received = 0
    var writing = 0
    var isWarned = false
    var receipts = Receipts()
    /// Messages of all generations that have ended that were never confirmed.
    var doubtful = 0
  }

  private let state: Mutex<State>
  private let input: DescriptorReader
  private let output: DescriptorWriter
  private let reporter: Reporter
  private let gate = SendGate()
  private let clock: any Clock<Duration> & Sendable
  private let reactor: Reactor
  /// How long the peer may take to answer the last message.
  private static let quietTime = Duration.seconds(2)
  private static let quietSlices = 8
  /// A message in its middle may stop for a minute.
  private static let slowMessageFactor = 30

  init(
    framing: MessageFraming, input: DescriptorReader, output: DescriptorWriter,
    reporter: Reporter, clock: any Clock<Duration> & Sendable, on reactor: Reactor
  ) {
    state = Mutex(State(framing: framing))
    self.input = input
    self.output = output
    self.reporter = reporter
    self.clock = clock
    self.reactor = reactor
  }

  /// Writes out what came and comes over `connection`, to the last message; nil when that was it,
  /// or when canceled.
  func receive(from connection: WebSocketConnection, _ generation: Int) async -> End? {
    do throws(AppError) {
      for try await message in connection.messages {
        state.withLock { $0.receipts.recordReceived(generation) }
        switch await write(message) {
        case .written: continue
        case .queued: return nil
        case .failed: return .outputClosed
        }
      }
    } catch {
      // The supervisor knows what ended it, and what follows.
    }
    return nil
  }

  private func write(_ message: WebSocketMessage) async -> DescriptorWriter.Outcome {
    let (encoded, number, isNew) = state.withLock { state in
      state.received += 1
      state.writing += 1
      let encoded = state.framing.encode(message)
      defer { state.isWarned = state.isWarned || !encoded.isFaithful }
      return (encoded, state.received, !encoded.isFaithful && !state.isWarned)
    }
    if isNew {
      reporter.warn("a message is more than one line of text; --binary keeps it whole")
    }
    if !encoded.isFaithful {
      // A reader of lines needs the event before them.
      await reporter.writtenEvent(
        .message(
          number: number, bytes: encoded.count, lines: encoded.lines, isBinary: encoded.isBinary))
    }
    await reporter.makeWay()
    let outcome = await output.write(encoded.bytes)
    state.withLock { $0.writing -= 1 }
    return outcome
  }

  /// Sends what is read until that ends, and lets the peer answer; nil when the connection ended,
  /// or the task was canceled.
  func send(to connection: WebSocketConnection, _ generation: Int) async -> End? {
    gate.open(for: generation)
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let proving = Task(executorPreference: reactor) { [self] in
      for await _ in signals { await prove(generation, over: connection) }
    }
    defer { proving.cancel() }
    do throws(AppError) {
      while true {
        let isSent = try await sendRead(to: connection, generation)
        signal.yield()
        guard isSent else { return nil }
        if state.withLock({ $0.hasEnded }) {
          try await confirmAll(of: generation, over: connection)
          return await isQuiet(connection) ? end : nil
        }
        guard await readMore() else { return nil }
      }
    } catch {
      guard case .validationError = error else { return nil }
      return .badInput(error)
    }
  }

  /// Sends what was read; false when it must wait for the next generation.
  private func sendRead(
    to connection: WebSocketConnection, _ generation: Int
  ) async throws(AppError) -> Bool {
    while let message = state.withLock({ $0.unsent.first }) {
      guard await gate.pass(generation) else { return false }
      try await connection.send(message)
      recordSent(generation)
    }
    return true
  }

  /// Keeps back what is to be sent while the link is only suspected.
  func hold(_ isHeld: Bool) { gate.set(isShut: isHeld) }

  /// How many messages went into a generation that has ended and may be lost with it. They are
  /// forgotten here, and stay in `report`.
  func takeDoubtful(of generation: Int) -> Int {
    state.withLock { state in
      let count = state.receipts.takeDoubtful(of: generation)
      state.doubtful += count
      return count
    }
  }

  /// Whether the input has ended and nothing of it waits for a link.
  var isAllSent: Bool { state.withLock { $0.hasEnded && $0.unsent.isEmpty } }

  /// Whether the server has replied to what it did not confirm.
  func isAnswered(_ generation: Int) -> Bool {
    state.withLock { $0.receipts.isAnswered(generation) }
  }

  /// The messages that did not arrive, or may not have, of all ended generations.
  func report(isInputTerminal: Bool) -> DeliveryReport {
    let (report, hasEnded) = state.withLock { state in
      let unsent = state.unsent.count + (state.framing.isInMessage ? 1 : 0)
      return (DeliveryReport(unsent: unsent, doubtful: state.doubtful), state.hasEnded)
    }
    // What a person has typed ahead is no file that was to be sent.
    guard !hasEnded, !isInputTerminal, input.hasMore else { return report }
    return DeliveryReport(unsent: report.unsent, isInputLeft: true, doubtful: report.doubtful)
  }

  private func recordSent(_ generation: Int) {
    state.withLock { state in
      state.unsent.removeFirst()
      state.receipts.recordSent(generation)
    }
  }

  /// Confirms what was sent, then rests: one ping proves all that is before it.
  private func prove(_ generation: Int, over connection: WebSocketConnection) async {
    do {
      guard let count = state.withLock({ $0.receipts.pending(of: generation) }) else { return }
      try await connection.confirmDelivery(within: Self.proofLimit)
      state.withLock { $0.receipts.prove(count, of: generation) }
      try await clock.sleep(for: Self.proofPause)
    } catch {
      // Nothing is proven; liveness decides whether the link is dead.
    }
  }

  /// Waits until everything that was sent is confirmed, as long as it gets on.
  ///
  /// - Throws: what ended the connection.
  private func confirmAll(
    of generation: Int, over connection: WebSocketConnection
  ) async throws(AppError) {
    while let count = state.withLock({ $0.receipts.pending(of: generation) }) {
      let before = await connection.traffic.acknowledged
      do throws(AppError) {
        try await connection.confirmDelivery(within: Self.proofLimit)
        state.withLock { $0.receipts.prove(count, of: generation) }
      } catch {
        guard error == .webSocketPingTimeout else { throw error }
        let after = await connection.traffic.acknowledged
        guard after >= before + Self.leastProgress else { return }
      }
    }
  }

  private static let proofPause = Duration.milliseconds(250)
  private static let proofLimit = Duration.seconds(60)
  /// In bytes: less may be the pings alone.
  private static let leastProgress: UInt64 = 16 << 10

  /// False when the task was canceled.
  private func readMore() async -> Bool {
    switch await input.read() {
    case .cancelled: return false
    case .bytes(let bytes):
      state.withLock { state in
        state.unsent += state.framing.take(bytes)
        state.hasEnded = state.framing.fault != nil
      }
    case .end:
      state.withLock { state in
        if let last = state.framing.finish() { state.unsent.append(last) }
        state.hasEnded = true
      }
    }
    return true
  }

  /// The end of the session and of its input.
  private var end: End {
    state.withLock { $0.framing.fault }.map { .badInput($0) } ?? .finished
  }

  /// True when nothing has come for a while, false when canceled. A message that has begun gets as
  /// long as a confirmation.
  private func isQuiet(_ connection: WebSocketConnection) async -> Bool {
    var (seen, slices) = (state.withLock { $0.received }, 0)
    var before = await connection.reception
    while slices < Self.quietSlices * (before.isInMessage ? Self.slowMessageFactor : 1) {
      do {
        try await clock.sleep(for: Self.quietTime / Self.quietSlices)
      } catch {
        return false
      }
      let (received, isWriting) = state.withLock { ($0.received, $0.writing > 0) }
      let now = await connection.reception
      slices = received == seen && now.bytes == before.bytes && !isWriting ? slices + 1 : 0
      (seen, before) = (received, now)
    }
    return true
  }
}
