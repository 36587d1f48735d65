import NIOCore
import NIOPosix

/// A loopback WebSocket server that follows a script and keeps a log of what it was sent.
///
/// ```swift
/// let peer = try await ScriptedWebSocketPeer(.refusing(503, ["Retry-After": "2"]))
/// ```
public actor ScriptedWebSocketPeer: Journaling {
  /// The port on 127.0.0.1.
  public nonisolated let port: Int

  nonisolated let loop: any EventLoop
  var journal: EventLog<WebSocketPeerEvent>
  private(set) var isStopped = false
  private let listener: LoopbackListener
  private var scripts: [WebSocketScript]
  private var sessions: [Int: Session] = [:]
  private var accepted = 0
  private let start: NIODeadline

  /// The largest frame, and the largest message, that a client may send; in bytes.
  public static let frameCapacity = 1 << 26

  private struct Session {
    let channel: any Channel
    let script: WebSocketScript
    /// Nil until the request has come.
    var player: ScriptPlayer?
    var message: [UInt8] = []
    var opcode: UInt8 = 0
  }

  /// The event loop, as the executor of this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.lane }

  /// Listens, and gives every connection the same script.
  ///
  /// - Throws: `cannotListen`.
  public init(
    _ script: WebSocketScript = .echo, logCapacity: Int = 4_096
  ) async throws(FaultError) {
    try await self.init([script], logCapacity: logCapacity)
  }

  /// Listens, and gives the first connection the first script, the second the second and so on;
  /// the last one serves all that come later. Without a script it never answers.
  ///
  /// - Parameter logCapacity: events that `log` keeps at most, at least 2; it drops the older half
  ///   when it is full.
  /// - Throws: `cannotListen`.
  public init(
    _ scripts: [WebSocketScript], logCapacity: Int = 4_096
  ) async throws(FaultError) {
    journal = EventLog(capacity: max(2, logCapacity))
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.scripts = scripts
    start = .now()
    listener = try LoopbackListener(on: loop)
    port = listener.port
    let peer = self
    let opened = listener.open { try $0.pipeline.syncOperations.addHandler(UpgradeHandler(peer)) }
    do { try await opened.get() } catch { throw .cannotListen(detail: "\(error)") }
  }

  /// The events, oldest first; the newest half of its capacity at least.
  public var log: [WebSocketPeerEvent] { journal.events }

  /// How many connections are open.
  public var openConnections: Int { sessions.count }

  /// Gives connections from now on other scripts; open ones follow theirs to the end.
  public func follow(_ scripts: WebSocketScript...) {
    let past = Array(repeating: WebSocketScript.stalledHandshake, count: accepted)
    self.scripts = past + scripts
  }

  /// The first event of the log that matches, once there is one.
  ///
  /// - Throws: `stopped` when the peer stops, or the task is canceled, before it came.
  public func first(
    where matches: @escaping @Sendable (WebSocketPeerEvent) -> Bool
  ) async throws(FaultError) -> WebSocketPeerEvent { try await awaitEvent(where: matches) }

  /// Sends frames on every open connection now, whatever its script says.
  public func send(_ frames: RawFrame...) {
    for id in sessions.keys.sorted() where sessions[id]?.player != nil {
      for frame in frames { send(frame, to: id) }
    }
  }

  /// Closes everything it opened. Safe to call again.
  public func stop() async {
    guard !isStopped else { return }
    isStopped = true
    _ = listener.close()
    let channels = sessions.values.map(\.channel)
    for channel in channels { channel.close(promise: nil) }
    for channel in channels { try? await channel.closeFuture.get() }
    journal.end()
  }

  func accept(_ channel: any Channel) -> Int {
    let script = scripts.isEmpty ? .stalledHandshake : scripts[min(accepted, scripts.count - 1)]
    accepted += 1
    sessions[accepted] = Session(channel: channel, script: script)
    report(.accepted, accepted)
    channel.read()
    return accepted
  }

  /// The request head is complete; text that is none gets a 400.
  func requested(_ text: String, by id: Int) {
    guard let session = sessions[id] else { return }
    guard let request = WebSocketRequest(head: text) else {
      report(.malformed, id)
      return play([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .finish], id)
    }
    report(.requested(request), id)
    switch session.script.upgrade {
    case .accept, .wrongAccept: report(.upgraded, id)
    case .refuse, .raw, .stall: break
    }
    play(WebSocketAnswer.script(session.script, for: request, on: session.channel), id)
  }

  func received(_ frame: ReceivedFrame, from id: Int) {
    guard let session = sessions[id] else { return }
    switch frame.opcode {
    case 8: receivedClose(frame.payload, id)
    case 9:
      report(.ping(frame.payload), id)
      if session.script.answersPings { send(RawFrame(opcode: 10, frame.payload), to: id) }
    case 10: report(.pong(frame.payload), id)
    default: receivedData(frame, id)
    }
  }

  func malformed(_ id: Int) { report(.malformed, id) }

  func readMore(of id: Int) {
    guard let session = sessions[id] else { return }
    if let player = session.player { player.readMore() } else { session.channel.read() }
  }

  func hasSpace(_ id: Int) { sessions[id]?.player?.play() }

  func clientFinished(_ id: Int) {
    report(.clientFinished, id)
    guard let player = sessions[id]?.player else {
      sessions[id]?.channel.close(promise: nil)
      return
    }
    player.clientDidFinish()
  }

  func closed(_ id: Int) {
    guard sessions.removeValue(forKey: id) != nil else { return }
    report(.closed, id)
  }

  private func play(_ script: PeerScript, _ id: Int) {
    guard let channel = sessions[id]?.channel else { return }
    let player = ScriptPlayer(script, on: channel, start: start) {
      self.assumeIsolated { $0.report(.scriptDone, id) }
    }
    sessions[id]?.player = player
    player.play()
  }

  private func receivedData(_ frame: ReceivedFrame, _ id: Int) {
    if frame.opcode != 0 { sessions[id]?.opcode = frame.opcode }
    sessions[id]?.message += frame.payload
    guard let session = sessions[id] else { return }
    guard session.message.count <= Self.frameCapacity else {
      send(.close(1009), to: id)
      return session.channel.close(promise: nil)
    }
    guard frame.isFinal else { return }
    sessions[id]?.message = []
    let isText = session.opcode == 1
    report(
      isText
        ? .text(String(decoding: session.message, as: UTF8.self))
        : .binary(count: session.message.count), id)
    if session.script.echoes {
      send(RawFrame(opcode: session.opcode, session.message), to: id)
    }
    session.player?.take([0])
  }

  private func receivedClose(_ payload: [UInt8], _ id: Int) {
    let code = payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    report(.close(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self)), id)
    guard let session = sessions[id], session.script.answersClose else { return }
    let channel = session.channel
    let answer = session.script.closesItself ? [] : RawFrame(opcode: 8, payload).bytes
    channel.writeAndFlush(ByteBuffer(bytes: answer)).whenComplete { _ in
      channel.close(promise: nil)
    }
  }

  private func send(_ frame: RawFrame, to id: Int) {
    sessions[id]?.channel.writeAndFlush(ByteBuffer(bytes: frame.bytes), promise: nil)
  }

  private func report(_ kind: WebSocketPeerEvent.Kind, _ id: Int) {
    let time = Duration.nanoseconds((NIODeadline.now() - start).nanoseconds)
    journal.append(WebSocketPeerEvent(at: time, connection: id, kind: kind))
  }
}

extension WebSocketScript {
  /// It sends a close frame of its own, so the client's is the answer to that.
  fileprivate var closesItself: Bool {
    steps.contains { if case .close = $0 { true } else { false } }
  }
}
