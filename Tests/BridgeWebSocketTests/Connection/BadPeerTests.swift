import BridgeErrors
import BridgeFaults
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("Against a peer that is no good WebSocket server", .timeLimit(.minutes(5)))
struct BadPeerTests {
  struct Handshake: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var script: PeerScript
    var error: AppError
    var kind: FailureKind
  }

  private static let noAnswer = AppError.webSocketConnectionFailed(
    reason: "It did not answer as a WebSocket server (no HTTP answer).")
  private static let closed = AppError.webSocketConnectionFailed(
    reason: "The server closed the connection during the upgrade to WebSocket.")

  static let handshakes = [
    Handshake(
      testDescription: "SSH", script: [.send("SSH-2.0-OpenSSH_9.2\r\n"), .finish],
      error: noAnswer, kind: .notTheProtocol),
    Handshake(
      testDescription: "noise", script: [.send(random: 4_000, seed: 7), .finish],
      error: noAnswer, kind: .notTheProtocol),
    Handshake(
      testDescription: "FIN", script: [.readUntil("\r\n\r\n"), .finish], error: closed,
      kind: .dropped),
    Handshake(
      testDescription: "an answer that breaks off",
      script: [.readUntil("\r\n\r\n"), .send("HTTP/1.1 101 Switching Protocols\r\nUpgr"), .finish],
      error: closed, kind: .dropped),
    Handshake(
      testDescription: "the first nine bytes of an answer",
      script: [.readUntil("\r\n\r\n"), .send("HTTP/1.1 "), .finish], error: closed,
      kind: .dropped),
    Handshake(
      testDescription: "ten bytes of something else",
      script: [.readUntil("\r\n\r\n"), .send("HELO there"), .finish], error: noAnswer,
      kind: .notTheProtocol),
    Handshake(
      testDescription: "a status line that breaks off",
      script: [.readUntil("\r\n\r\n"), .send("HTTP/1.1 10"), .finish], error: closed,
      kind: .dropped),
    Handshake(
      testDescription: "RST", script: [.readUntil("\r\n\r\n"), .reset], error: closed,
      kind: .dropped),
  ]

  @Test("an upgrade ends with a typed error", arguments: handshakes)
  func handshake(_ expected: Handshake) async throws {
    let peer = try await ScriptedTCPPeer(expected.script)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    let error = await #expect(throws: AppError.self) { try await connection.connect() }
    #expect(error == expected.error)
    #expect(await connection.lastFailure?.kind == expected.kind)
    await peer.stop()
  }

  @Test("a reset at once is a drop, whether TCP noticed it before or after")
  func resetAtOnce() async throws {
    let peer = try await ScriptedTCPPeer([.reset])
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    await #expect(throws: AppError.self) { try await connection.connect() }
    #expect(await connection.lastFailure?.kind == .dropped)
    await peer.stop()
  }

  @Test("silence ends at the deadline of the upgrade")
  func silence() async throws {
    let peer = try await ScriptedTCPPeer([])
    var configuration = WebSocketConfiguration()
    configuration.timeouts.upgrade = .milliseconds(300)
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    await #expect(throws: AppError.timeout(seconds: 1)) { try await connection.connect() }
    #expect(await connection.lastFailure?.kind == .silent)
    #expect(await connection.lastFailure?.phase == .upgrade)
    for await _ in connection.events {}
    await peer.stop()
  }

  @Test("a closed port is refused, and says so")
  func closedPort() async throws {
    let peer = try await ScriptedTCPPeer([])
    let port = peer.port
    await peer.stop()
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(port)/")
    await #expect(
      throws: AppError.webSocketConnectionFailed(
        reason: "Connection refused: nothing listens on port \(port).")
    ) { try await connection.connect() }
    #expect(await connection.lastFailure?.kind == .refused)
  }

  struct Stream: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var script: WebSocketScript
    var error: AppError
    var kind: FailureKind
    /// The close frame that the peer gets, where it gets one.
    var code: UInt16?
    /// The library refuses it, and the peer's end may come before that is seen.
    var mayBeLost = false
  }

  /// The library ends it and does not say why.
  private static func unexplained(_ name: String, _ frame: RawFrame) -> Stream {
    lost(
      name, .sending(frame), nil,
      "It was ended on this side without a reason, as after a frame that is not allowed.")
  }

  private static func tooLong(_ name: String, _ frame: RawFrame) -> Stream {
    var stream = lost(
      name, .sending(frame), nil,
      "A message of the server is longer than the 16777216 bytes that are taken here.",
      kind: .overLimit)
    stream.code = 1009
    return stream
  }

  private static func invalid(
    _ name: String, _ frame: RawFrame, _ detail: String, code: UInt16? = nil
  ) -> Stream {
    Stream(
      testDescription: name, script: .sending(frame),
      error: .webSocketMessageInvalid(detail: detail), kind: .corrupted, code: code)
  }

  /// Later ones know more codes, and refuse a mask by themselves, not always with a close frame.
  private static let isOldLibrary = WebSocketLibraries.libwebsockets.hasPrefix("4.1.")

  private static func masked(
    _ name: String, _ frame: RawFrame, key: [UInt8] = [1, 2, 3, 4], then next: RawFrame? = nil
  ) -> Stream {
    var stream = unexplained("a masked frame: \(name)", frame)
    stream.mayBeLost = !isOldLibrary
    if isOldLibrary {
      stream = invalid(
        "a masked frame: \(name)", frame, "A frame is masked, as only a client's may be.",
        code: 1002)
    }
    stream.script = WebSocketScript([
      .raw(frame.with { $0.mask = key }.bytes + (next?.bytes ?? []))
    ])
    return stream
  }

  private static func lost(
    _ name: String, _ script: WebSocketScript, _ code: Int?, _ reason: String? = nil,
    kind: FailureKind = .linkLost
  ) -> Stream {
    Stream(
      testDescription: name, script: script,
      error: .webSocketDisconnected(code: code, reason: reason), kind: kind)
  }

  static let streams = [
    lost("close 1001", .closing(1001, "bye"), 1001, "bye"),
    lost("close 1011", .closing(1011), 1011),
    lost("close without a code", .closing(nil), 1005),
    lost("close 1003", .closing(1003), 1003, kind: .rejected),
    lost("close 1008", .closing(1008, "policy"), 1008, "policy", kind: .rejected),
    lost("close 4000", .closing(4000, "mine"), 4000, "mine", kind: .closedByApplication),
    // libwebsockets 4.1 knows neither, and says 1002.
    lost("close 1012", .closing(1012, "restart"), isOldLibrary ? 1002 : 1012, "restart"),
    lost("close 1013", .closing(1013), isOldLibrary ? 1002 : 1013),
    lost(
      "close with an escape", .closing(4001, "\u{1B}[2J"), 4001, "\\x1b[2J",
      kind: .closedByApplication),
    lost("FIN without close", WebSocketScript([.finish]), nil),
    lost("RST", WebSocketScript([.awaitMessages(1), .reset]), nil),
    lost(
      "close inside a message",
      .sending(RawFrame([0x61]).with { $0.isFinal = false }, .close(1001)), 1001),
    // Not as agreed: what is missing of the message never comes.
    lost(
      "close 1000 inside a message",
      .sending(RawFrame([0x61]).with { $0.isFinal = false }, .close(1000)), nil,
      "It was closed in the middle of a message."),
    masked("text", RawFrame([0x61])),
    masked("text without content", RawFrame()),
    masked("text with a key of zeros", RawFrame([0x61]), key: [0, 0, 0, 0]),
    masked("binary", RawFrame(opcode: 2, [UInt8](repeating: 7, count: 70_000))),
    masked("ping", RawFrame(opcode: 9, [0x61])),
    masked("pong", RawFrame(opcode: 10, [0x61])),
    masked("close", .close(1000)),
    masked("text, with what follows", RawFrame([0x61]), then: RawFrame([0x62])),
    unexplained("a reserved bit", RawFrame([0x61]).with { $0.reserved = 4 }),
    unexplained("a reserved opcode", RawFrame(opcode: 3)),
    unexplained("a continuation of nothing", RawFrame(opcode: 0, [0x61])),
    unexplained("a ping in fragments", RawFrame(opcode: 9).with { $0.isFinal = false }),
    unexplained("a ping of 126 bytes", RawFrame(opcode: 9, [UInt8](repeating: 0, count: 126))),
    invalid(
      "text that is not UTF-8", RawFrame([0x61, 0xFF]), "A text message is not UTF-8.", code: 1007),
    invalid(
      "a close reason that is not UTF-8", RawFrame(opcode: 8, [0x03, 0xE8, 0xFF]),
      "A close frame is malformed.", code: 1002),
    invalid(
      "a close frame of one byte", RawFrame(opcode: 8, [0x03]), "A close frame is malformed.",
      code: 1002),
    tooLong(
      "a length of 2^62",
      RawFrame(opcode: 2, [UInt8](repeating: 1, count: 100_000)).with {
        $0.declaredLength = 1 << 62
      }),
    tooLong(
      "the header of a frame of 2^62 bytes, and nothing after it",
      RawFrame(opcode: 2).with { $0.declaredLength = 1 << 62 }),
    unexplained("a length of 2^63", RawFrame(opcode: 2, [1]).with { $0.declaredLength = 1 << 63 }),
  ]

  @Test("a stream ends with a typed error, after what came before", arguments: streams)
  func stream(_ expected: Stream) async throws {
    var script = expected.script
    script.steps.insert(.text("before"), at: 0)
    script.answersClose = true
    let peer = try await ScriptedWebSocketPeer(script)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    let iterator = connection.messages.makeAsyncIterator()
    #expect(try await iterator.next() == .text("before"))
    try? await connection.send(text: "go on")
    let error = await #expect(throws: AppError.self) { try await iterator.next() }
    let kind = await connection.lastFailure?.kind
    let isLost = expected.mayBeLost && kind == .linkLost
    #expect(error == (isLost ? .webSocketDisconnected(code: nil, reason: nil) : expected.error))
    #expect(isLost || kind == expected.kind)
    for await _ in connection.events {}
    if let code = expected.code {
      let told = try await peer.first { if case .close = $0.kind { true } else { false } }
      #expect(told.kind == .close(code: code, reason: ""))
    }
    await peer.stop()
  }

  @Test("a close with 1000 is the end, and no error")
  func normalClose() async throws {
    let peer = try await ScriptedWebSocketPeer(.closing(1000, "done"))
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    try await connection.connect()
    let iterator = connection.messages.makeAsyncIterator()
    #expect(try await iterator.next() == nil)
    #expect(await connection.lastFailure?.kind == .closedByPeer)
    for await _ in connection.events {}
    await peer.stop()
  }
}
