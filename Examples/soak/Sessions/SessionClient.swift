import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport

/// What a client keeps on its disk: it outlives the client.
actor ClientStore {
  /// Output that has had its effect.
  struct Output: Sendable {
    var position = 0
    var digest = SHA256()
    /// Of a client that catches up: what it saw is no sequence of all bytes.
    var screen: WatchedScreen?
  }

  private(set) var output: Output
  private(set) var resume: ResumePoint?
  private(set) var input: InputPoint?
  /// Input that was recorded and of which the host has not said that the program has it.
  private(set) var pending = 0..<0
  /// Counted up whenever something is stored.
  private(set) var steps = 0

  init(_ plan: SessionPlan) {
    output = Output(screen: plan.catchesUp ? WatchedScreen(plan.output) : nil)
  }

  func begin(_ epoch: UInt64) {
    if resume == nil { resume = ResumePoint(epoch: epoch, received: 0) }
    steps += 1
  }

  /// One transaction: the effect of the output, and how far it goes.
  func store(_ output: Output) {
    self.output = output
    resume?.received = UInt64(output.position)
    steps += 1
  }

  func record(through end: Int, taken: UInt64, lease: UInt64) {
    pending = max(pending.lowerBound, Int(taken))..<end
    input = InputPoint(written: UInt64(end), lease: lease)
    steps += 1
  }
}

/// One life of the client of a session.
struct SessionClient: Sendable {
  enum Ending: Sendable, Equatable {
    case ended(ProgramEnd)
    case outcomeUnknown
    case killed
    case broken(String)
  }

  let plan: SessionPlan
  let store: ClientStore
  let session: DurableSession
  let dialer: SessionDialer
  let seed: UInt64

  /// Goes on where the last life left off.
  init(
    _ plan: SessionPlan, _ spec: SessionSpec, _ store: ClientStore, _ dialer: SessionDialer,
    program: String, seed: UInt64
  ) async {
    (self.plan, self.store, self.dialer, self.seed) = (plan, store, dialer, seed)
    var configuration = DurableSession.Configuration(
      host: "127.0.0.1", starting: spec, client: plan.client)
    configuration.program = program
    configuration.attachment.catchesUp = plan.catchesUp
    // What is on its way is left out nowhere.
    if plan.catchesUp { configuration.attachment.outputWindow = 128 << 10 }
    configuration.resume = await store.resume
    configuration.input = await store.input
    if configuration.resume != nil { configuration.start = nil }
    session = DurableSession(configuration) { command, _ throws(AppError) in
      try await dialer.channel(running: command)
    }
  }

  /// Reads and types until the program ends, or this life does.
  func run() async -> Ending {
    await withTaskGroup(of: Ending?.self) { group in
      group.addTask { await read() }
      group.addTask { await type() }
      defer { group.cancelAll() }
      while let ending = await group.next() {
        if let ending { return ending }
      }
      return .killed
    }
  }

  /// Gone without a word: nothing that is not in the store is left of it.
  func die() async {
    await dialer.kill()
    await session.detach()
  }

  // MARK: Output

  private func read() async -> Ending {
    do throws(AppError) {
      let welcome = try await session.attach()
      await store.begin(welcome.epoch)
      if let wrong = try await readAll() { return .broken(wrong) }
      return .ended(try await session.exitStatus())
    } catch {
      if case .durableSessionOutcomeUnknown = error { return .outcomeUnknown }
      if error == .cancelled { return .killed }
      return .broken("\(error)")
    }
  }

  /// - Returns: what is wrong with the output.
  private func readAll() async throws(AppError) -> String? {
    var generator = SplitMix64(seed: seed)
    let expected = plan.output
    var output = await store.output
    for try await chunk in session.output {
      // After an outage it says only up to where output of a terminal is old.
      if case .screen([], live: _) = chunk.content { continue }
      guard chunk.offset == output.position else {
        return "output at \(chunk.offset) where \(output.position) comes next"
      }
      let range = output.position..<Int(chunk.end)
      switch chunk.content {
      case .bytes(let bytes, _):
        guard range.upperBound <= plan.outputCount, expected.bytes(range) == bytes else {
          return "other bytes than were printed in \(range)"
        }
        output.digest.update(bytes)
      case .omitted where plan.catchesUp: break
      case .omitted, .gap, .screen, .size: return "a gap at \(range)"
      }
      if let wrong = output.screen?.take(chunk) { return wrong }
      output.position = range.upperBound
      if plan.catchesUp, Int.random(in: 0..<24, using: &generator) == 0 {
        await rest(.milliseconds(600))
      }
      // Often it is killed with output that was seen and is not stored; the first lets it type.
      guard await store.output.position == 0 || Bool.random(using: &generator) else { continue }
      await store.store(output)
      if Bool.random(using: &generator) { await session.commit(through: chunk.end) }
    }
    await store.store(output)
    await session.commit(through: UInt64(output.position))
    return nil
  }

  // MARK: Input

  /// - Returns: nil where there is no more to type.
  private func type() async -> Ending? {
    do throws(AppError) {
      _ = try await session.attach()
      // A program that prints has set its terminal.
      while await store.output.position == 0, !Task.isCancelled { await rest(.milliseconds(5)) }
      return try await typeAll()
    } catch {
      // The reader has the reason where the session is over for this client or the program has
      // ended: what it had not read then is missing in what it reports.
      if case .sshConnectionFailed = error { return nil }
      if await session.ending != nil || error == .cancelled { return nil }
      return .broken("typing: \(error)")
    }
  }

  private func typeAll() async throws(AppError) -> Ending? {
    var generator = SplitMix64(seed: ~seed)
    let bytes = plan.input
    // Whether it was taken is the host's to know.
    let pending = await store.pending
    if !pending.isEmpty {
      try await session.write(bytes.bytes(pending), at: UInt64(pending.lowerBound))
    }
    while !Task.isCancelled {
      let position = await store.pending.upperBound
      guard position < plan.inputCount else { break }
      guard let point = await session.inputPoint else { return .broken("no point of the input") }
      guard point.written == UInt64(position) else {
        return .broken("input at \(point.written) where \(position) comes next")
      }
      let size = Int.random(in: 1...2_048, using: &generator)
      let range = position..<min(plan.inputCount, position + size)
      await store.record(
        through: range.upperBound, taken: session.inputTaken, lease: point.lease)
      try await session.write(bytes.bytes(range), at: UInt64(range.lowerBound))
      await rest(.milliseconds(Int.random(in: 0...60, using: &generator)))
      if Int.random(in: 0..<4, using: &generator) == 0 {
        try await session.inputTaken(through: UInt64(range.upperBound))
      }
    }
    if !plan.isOnTerminal { try await session.endInput() }
    return nil
  }
}

/// Dials again whenever a session asks for a channel and the link is gone, and gives up a link
/// whose peer does not answer.
actor SessionDialer {
  private let endpoint: Endpoint
  private let configuration: SSHConfiguration
  private var connection: SSHConnection?
  private var watch: Task<Void, Never>?
  private(set) var isKilled = false
  private(set) var dials = 0

  /// For tests' sake short: what is measured is not the liveness.
  private static let silence = Duration.milliseconds(500)
  private static let timeout = Duration.seconds(2)

  init(_ endpoint: Endpoint, _ configuration: SSHConfiguration) {
    (self.endpoint, self.configuration) = (endpoint, configuration)
  }

  func channel(running command: String) async throws(AppError) -> any ByteChannel {
    while !isKilled, !Task.isCancelled {
      do throws(AppError) {
        return try await link().channel(running: command)
      } catch {
        if let connection, await connection.lastFailure == nil, error != .cancelled { throw error }
        await drop()
        await rest(.milliseconds(10))
      }
    }
    throw .cancelled
  }

  private func link() async throws(AppError) -> SSHConnection {
    if let connection, await connection.lastFailure == nil { return connection }
    await drop()
    dials += 1
    let next = SSHConnection(to: endpoint, configuration: configuration)
    do throws(AppError) { try await next.connect() } catch {
      await next.close()
      throw error
    }
    guard !isKilled else {
      await next.close()
      throw .cancelled
    }
    connection = next
    watch = Task {
      while !Task.isCancelled {
        await rest(Self.silence)
        if (try? await next.probe(within: Self.timeout)) == nil { return await next.close() }
      }
    }
    return next
  }

  private func drop() async {
    watch?.cancel()
    watch = nil
    let old = connection
    connection = nil
    await old?.close()
  }

  /// Nothing goes out or comes in any more.
  func kill() async {
    isKilled = true
    await drop()
  }
}
