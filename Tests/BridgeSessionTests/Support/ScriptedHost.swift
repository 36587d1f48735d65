import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import BridgeWaiting

/// A byte channel whose other end is the test: what a real host will not do.
final class ScriptedChannel: ByteChannel {
  private struct State {
    var incoming: [[UInt8]] = []
    var isEnded = false
    var reader: CheckedContinuation<[UInt8]?, Never>?
    var written: [UInt8] = []
    var watcher: (count: Int, caller: CheckedContinuation<Void, Never>)?
    var takesPosts = false
    var posts = 0
    var holdsWrites = false
    var held: CheckedContinuation<Void, Never>?
  }

  let command: String
  private let state = Mutex(State())
  private let end: ByteChannelEnding

  /// Whether what runs there ends with its input.
  private let endsWithInput: Bool

  init(
    _ command: String, ending: ByteChannelEnding = .finished(status: 0),
    endsWithInput: Bool = true
  ) {
    self.command = command
    self.endsWithInput = endsWithInput
    end = ending
  }

  /// What bridge-host prints before its answer: the marker, as the shell makes it, and a greeting.
  var marker: [UInt8] { olderMarker + Greeting([]).bytes }

  /// What an earlier version printed.
  var olderMarker: [UInt8] {
    let head = command.firstMatch(of: /m=(bridge-[0-9a-f]+);/)?.output.1 ?? ""
    let tail = command.firstMatch(of: /"\$m(-[0-9a-f]+)"/)?.output.1 ?? ""
    return Array((head + tail).utf8)
  }

  func send(_ bytes: [UInt8]) {
    let reader = state.withLock { state in
      if state.reader == nil { state.incoming.append(bytes) }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: bytes)
  }

  func send(_ frame: Frame) { send(frame.encoded) }

  func hangUp() {
    let reader = state.withLock { state in
      state.isEnded = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
  }

  var sentBytes: [UInt8] { state.withLock { $0.written } }

  /// The frames that the session has sent.
  func sent() throws -> [Frame] {
    var parser = FrameParser()
    parser.append(state.withLock { $0.written })
    var frames: [Frame] = []
    while let frame = try parser.next() { frames.append(frame) }
    return frames
  }

  /// Waits until the session has sent a frame like this.
  func waitForFrame(_ matches: (Frame) -> Bool) async throws {
    while true {
      let count = state.withLock { $0.written.count }
      if try sent().contains(where: matches) { return }
      await withCheckedContinuation { caller in
        let isThere = state.withLock { state in
          if state.written.count == count { state.watcher = (count, caller) }
          return state.written.count > count
        }
        if isThere { caller.resume() }
      }
    }
  }

  /// The end of the input that the session has sent.
  func inputEnd() throws -> UInt64 {
    try sent().reduce(0) { end, frame in
      guard case .input(let offset, let bytes) = frame else { return end }
      return max(end, offset + UInt64(bytes.count))
    }
  }

  /// Waits until the session has sent all input below `offset`.
  func waitForInput(through offset: UInt64) async throws {
    try await waitForFrame { frame in
      guard case .input(let start, let bytes) = frame else { return false }
      return start + UInt64(bytes.count) >= offset
    }
  }

  /// From now on it sends at once what it is given without waiting.
  func takePosts() { state.withLock { $0.takesPosts = true } }

  /// How often something was sent without waiting.
  var posts: Int { state.withLock { $0.posts } }

  /// The next write waits, until it is let go.
  func holdWrites() { state.withLock { $0.holdsWrites = true } }

  var holdsWrite: Bool { state.withLock { $0.held != nil } }

  func letGo() {
    let held = state.withLock { state in
      state.holdsWrites = false
      return state.held.take()
    }
    held?.resume()
  }

  // The channel.

  func post(_ bytes: () -> [UInt8]) -> Bool {
    guard state.withLock({ $0.takesPosts }) else { return false }
    let bytes = bytes()
    state.withLock { $0.posts += 1 }
    append(bytes)
    return true
  }

  func read() async throws(AppError) -> [UInt8]? {
    let bytes = await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let now = state.withLock { state -> [UInt8]?? in
          if !state.incoming.isEmpty { return state.incoming.removeFirst() }
          if state.isEnded || Task.isCancelled { return .some(nil) }
          state.reader = reader
          return nil
        }
        if let now { reader.resume(returning: now) }
      }
    } onCancel: {
      hangUp()
    }
    if Task.isCancelled { throw .cancelled }
    return bytes
  }

  func write(_ bytes: [UInt8]) async throws(AppError) {
    if state.withLock({ $0.holdsWrites }) {
      await withCheckedContinuation { caller in state.withLock { $0.held = caller } }
    }
    append(bytes)
  }

  private func append(_ bytes: [UInt8]) {
    let watcher = state.withLock { state in
      state.written += bytes
      defer { state.watcher = nil }
      return state.watcher?.caller
    }
    watcher?.resume()
  }

  func finish() async throws(AppError) { if endsWithInput { hangUp() } }

  func close() async { hangUp() }

  func ending() async -> ByteChannelEnding { end }
}

/// Hands scripted channels to a session in turn.
actor ScriptedHost {
  private var scripts: [@Sendable (ScriptedChannel) -> Void]
  private let ending: ByteChannelEnding
  private(set) var channels: [ScriptedChannel] = []
  private(set) var endings: [ByteChannelEnding?] = []
  /// Each channel once it was handed out; one reader.
  nonisolated let made: AsyncStream<ScriptedChannel>
  private let sink: AsyncStream<ScriptedChannel>.Continuation

  /// Each script sees its channel at once; without a further one, asking fails.
  init(
    ending: ByteChannelEnding = .finished(status: 0),
    _ scripts: @Sendable (ScriptedChannel) -> Void...
  ) {
    self.scripts = scripts
    self.ending = ending
    (made, sink) = AsyncStream.makeStream()
  }

  func next(_ command: String, _ last: ByteChannelEnding?) throws(AppError) -> any ByteChannel {
    endings.append(last)
    guard !scripts.isEmpty else { throw .networkUnavailable }
    let channel = ScriptedChannel(command, ending: ending)
    channels.append(channel)
    scripts.removeFirst()(channel)
    sink.yield(channel)
    return channel
  }

  func stop() { sink.finish() }

  nonisolated var configuration: DurableSession.Configuration {
    DurableSession.Configuration(
      host: "build", attachment: .init(session: Self.id, client: Identifier(high: 1, low: 1)))
  }

  nonisolated func session(
    _ change: (inout DurableSession.Configuration) -> Void = { _ in }
  ) -> DurableSession {
    var configuration = configuration
    change(&configuration)
    return DurableSession(configuration) { command, last throws(AppError) in
      try await self.next(command, last)
    }
  }

  static let id = Identifier(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
  static let epoch: UInt64 = 7

  /// What a host says to a writer.
  static func welcome(_ change: (inout Welcome) -> Void = { _ in }) -> Frame {
    var welcome = Welcome(session: id, epoch: epoch)
    welcome.lease = 1
    change(&welcome)
    return .welcome(welcome)
  }
}

extension ScriptedChannel {
  /// The marker and a welcome.
  func greet(_ change: (inout Welcome) -> Void = { _ in }) {
    send(marker)
    send(ScriptedHost.welcome(change))
  }

  /// The marker and a refusal.
  func greetRefusing(_ code: Refusal.Code) {
    send(marker)
    send(.refused(Refusal(code, "why")))
  }
}
