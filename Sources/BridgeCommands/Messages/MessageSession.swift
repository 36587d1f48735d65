import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWebSocket

/// Standard input as messages, and messages as standard output, over all connections of a run: what
/// was read and not sent waits for the next one.
final class MessageSession: Sendable {
  /// How it came to its end.
  enum End: Sendable {
    /// Input has ended, and the peer has had time to answer.
    case finished
    /// What was read is no message.
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

  init(
    isBinary: Bool, input: DescriptorReader, output: DescriptorWriter, reporter: Reporter,
    clock: any Clock<Duration> & Sendable, on reactor: Reactor
  ) {
    state = Mutex(State(framing: MessageFraming(isBinary: isBinary)))
    self.input = input
    self.output = output
    self.reporter = reporter
    self.clock = clock
    self.reactor = reactor
  }

  /// Writes out what came and comes over `connection`, to the last message; nil when that was it,
  /// or when cancelled.
  func receive(from connection: WebSocketConnection) async -> End? {
    do throws(AppError) {
      for try await message in connection.messages {
        guard await write(message) else { return Task.isCancelled ? nil : .outputClosed }
      }
    } catch {
      // The supervisor knows what ended it, and what follows.
    }
    return nil
  }

  /// False when the output is closed, or the task was cancelled.
  private func write(_ message: WebSocketMessage) async -> Bool {
    let (bytes, isNew) = state.withLock { state in
      state.received += 1
      state.writing += 1
      let (bytes, isFaithful) = state.framing.encode(message)
      defer { state.isWarned = state.isWarned || !isFaithful }
      return (bytes, !isFaithful && !state.isWarned)
    }
    if isNew {
      reporter.warn("a message is more than one line of text; --binary keeps it whole")
    }
    await reporter.makeWay()
    let isWritten = await output.write(bytes)
    state.withLock { $0.writing -= 1 }
    return isWritten
  }

  /// Sends what is read until that ends, and lets the peer answer; nil when the connection ended,
  /// or the task was cancelled.
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
        if state.withLock({ $0.hasEnded }) { return await isQuiet() ? end : nil }
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
      noteSent(generation)
    }
    return true
  }

  /// Keeps back what is to be sent while the link is only suspected.
  func hold(_ isHeld: Bool) { gate.set(isShut: isHeld) }

  /// How many messages went into a generation that has ended and may be lost with it; they are
  /// forgotten.
  func takeDoubtful(of generation: Int) -> Int {
    state.withLock { $0.receipts.takeDoubtful(of: generation) }
  }

  private func noteSent(_ generation: Int) {
    state.withLock { state in
      state.unsent.removeFirst()
      state.receipts.noteSent(generation)
    }
  }

  /// Asks, a moment later, whether what was sent has arrived.
  private func prove(_ generation: Int, over connection: WebSocketConnection) async {
    do {
      try await clock.sleep(for: Self.proofPause)
      guard let count = state.withLock({ $0.receipts.pending(of: generation) }) else { return }
      _ = try await connection.probe(within: Self.proofLimit)
      state.withLock { $0.receipts.prove(count, of: generation) }
    } catch {
      // Nothing is proven; whether the link is dead is not ours to judge.
    }
  }

  /// One ping proves what went before it, so there is no hurry.
  private static let proofPause = Duration.milliseconds(250)
  private static let proofLimit = Duration.seconds(60)

  /// False when the task was cancelled.
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

  /// How it came to its end with the input's.
  private var end: End {
    state.withLock { $0.framing.fault }.map { .badInput($0) } ?? .finished
  }

  /// True when nothing has come for a while, false when cancelled.
  private func isQuiet() async -> Bool {
    var (seen, slices) = (state.withLock { $0.received }, 0)
    while slices < Self.quietSlices {
      do {
        try await clock.sleep(for: Self.quietTime / Self.quietSlices)
      } catch {
        return false
      }
      let (received, isWriting) = state.withLock { ($0.received, $0.writing > 0) }
      slices = received == seen && !isWriting ? slices + 1 : 0
      seen = received
    }
    return true
  }
}
