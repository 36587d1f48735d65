import BridgeFaults
import Testing

/// The sample key of RFC 6455, section 1.3, and its answer.
private let sampleKey = "dGhlIHNhbXBsZSBub25jZQ=="
private let sampleAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

private let upgradeRequest =
  "GET /chat?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
  + "Sec-WebSocket-Key: \(sampleKey)\r\nSec-WebSocket-Version: 13\r\n\r\n"

/// A WebSocket client that knows frames and no manners.
private struct Visitor {
  let client: LoopbackClient
  var skipped = 0

  /// Asks for an upgrade and waits for the head of the answer.
  init(_ peer: ScriptedWebSocketPeer) async throws {
    client = try await LoopbackClient(port: peer.port)
    try await client.send(upgradeRequest)
    _ = try await peer.first { $0.kind == .upgraded }
  }

  /// Sends a frame with the mask that clients must use.
  func send(_ frame: RawFrame) async throws {
    try await client.send(frame.with { $0.mask = [1, 2, 3, 4] }.bytes)
  }

  /// What comes after the head of the answer, once it ends with these bytes or the peer ended it.
  func receive(_ bytes: [UInt8]) async -> [UInt8] {
    await body(client.receive { $0.bytes.suffix(bytes.count) == bytes })
  }

  func receiveToEnd() async -> [UInt8] { await body(client.receiveToEnd()) }

  private func body(_ received: LoopbackClient.Received) -> [UInt8] {
    guard let head = received.bytes.firstRange(of: "\r\n\r\n".bytes) else { return [] }
    return Array(received.bytes[head.upperBound...])
  }
}

@Suite("A WebSocket peer that follows a script", .timeLimit(.minutes(5)))
struct ScriptedWebSocketPeerTests {
  private func answer(_ script: WebSocketScript) async throws -> String {
    let peer = try await ScriptedWebSocketPeer(script)
    let client = try await LoopbackClient(port: peer.port)
    try await client.send(upgradeRequest)
    let received = await client.receive { $0.bytes.contains("\r\n\r\n".bytes) }
    await peer.stop()
    return String(decoding: received.bytes, as: UTF8.self)
  }

  @Test(arguments: [(401, "Unauthorized"), (403, "Forbidden"), (503, "Service Unavailable")])
  func refusesWithWhateverItIsTold(status: Int, phrase: String) async throws {
    let peer = try await ScriptedWebSocketPeer(
      .refusing(status, ["Retry-After": "7"], body: "not now"))
    let client = try await LoopbackClient(port: peer.port)
    try await client.send(upgradeRequest)
    let received = await client.receiveToEnd()
    let text = String(decoding: received.bytes, as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 \(status) \(phrase)\r\n"))
    #expect(text.contains("\r\nRetry-After: 7\r\n"))
    #expect(text.hasSuffix("\r\n\r\nnot now"))
    #expect(received.end == .finished)
    await peer.stop()
  }

  @Test func answersTheSampleKeyOfTheStandard() async throws {
    let head = try await answer(.echo)
    #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
    #expect(head.contains("Sec-WebSocket-Accept: \(sampleAccept)\r\n"))
  }

  @Test func answersAnotherKey() async throws {
    let head = try await answer(WebSocketScript(upgrade: .wrongAccept))
    #expect(head.hasPrefix("HTTP/1.1 101 "))
    #expect(head.contains("Sec-WebSocket-Accept: "))
    #expect(!head.contains(sampleAccept))
  }

  @Test func namesASubprotocolThatWasNotOffered() async throws {
    let head = try await answer(WebSocketScript(upgrade: .accept(subprotocol: "surprise")))
    #expect(head.contains("Sec-WebSocket-Protocol: surprise\r\n"))
  }

  @Test func neverAnswersAStalledHandshake() async throws {
    let peer = try await ScriptedWebSocketPeer(.stalledHandshake)
    let client = try await LoopbackClient(port: peer.port)
    try await client.send(upgradeRequest)
    let requested = try await peer.first { $0.kind.request != nil }
    #expect(requested.kind.request?.target == "/chat?x=1")
    #expect(requested.kind.request?.headers["sec-websocket-key"] == sampleKey)
    try await client.finish()
    #expect(await client.receiveToEnd().bytes.isEmpty)
    await peer.stop()
  }

  @Test func refusesWhatIsNoRequest() async throws {
    let peer = try await ScriptedWebSocketPeer()
    let client = try await LoopbackClient(port: peer.port)
    try await client.send("SSH-2.0-lost\r\n\r\n")
    let received = await client.receiveToEnd()
    #expect(String(decoding: received.bytes, as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
    #expect(await peer.log.contains { $0.kind == .malformed })
    await peer.stop()
  }

  @Test(arguments: [1000, 1001, 1008, 1011, 1012, 1013, 4000] as [UInt16])
  func closesWithAnyCode(code: UInt16) async throws {
    let peer = try await ScriptedWebSocketPeer(.closing(code, "because"))
    let visitor = try await Visitor(peer)
    #expect(await visitor.receive(RawFrame.close(code, "because").bytes).first == 0x88)
    try await visitor.send(.close(code))
    #expect(await visitor.receiveToEnd() == RawFrame.close(code, "because").bytes)
    #expect(await peer.log.contains { $0.kind == .close(code: code, reason: "") })
    await peer.stop()
  }

  @Test func echoesMessagesAlsoInFragments() async throws {
    let peer = try await ScriptedWebSocketPeer()
    let visitor = try await Visitor(peer)
    try await visitor.send(RawFrame("he".bytes).with { $0.isFinal = false })
    try await visitor.send(RawFrame(opcode: 0, "llo".bytes))
    #expect(await visitor.receive("hello".bytes) == RawFrame("hello".bytes).bytes)
    #expect(await peer.log.contains { $0.kind == .text("hello") })
    try await visitor.send(.close(1000, "done"))
    let end = RawFrame("hello".bytes).bytes + RawFrame.close(1000, "done").bytes
    #expect(await visitor.receiveToEnd() == end)
    await peer.stop()
  }

  @Test(arguments: [true, false])
  func answersPingsOrDoesNot(answersPings: Bool) async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript(echoes: true, answersPings: answersPings))
    let visitor = try await Visitor(peer)
    try await visitor.send(RawFrame(opcode: 9, "sign".bytes))
    try await visitor.send(RawFrame("of life".bytes))
    let came = await visitor.receive("of life".bytes)
    let pong = RawFrame(opcode: 10, "sign".bytes).bytes
    let expected: [UInt8] = (answersPings ? pong : []) + RawFrame("of life".bytes).bytes
    #expect(came == expected)
    #expect(await peer.log.contains { $0.kind == .ping("sign".bytes) })
    await peer.stop()
  }

  @Test func resetsBehindWhatItSent() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript([.text("half"), .reset]))
    let client = try await LoopbackClient(port: peer.port)
    try await client.send(upgradeRequest)
    let received = await client.receiveToEnd()
    #expect(received.end == .reset)
    #expect(Array(received.bytes.suffix(6)) == RawFrame("half".bytes).bytes)
    await peer.stop()
  }

  @Test func sendsBigAndEndlessMessages() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript([.bigMessage(bytes: 3_000_000), .endlessMessage(total: 500_000), .finish]))
    let visitor = try await Visitor(peer)
    let came = await visitor.receiveToEnd()
    let header: [UInt8] = [0x82, 127, 0, 0, 0, 0, 0, 0x2D, 0xC6, 0xC0]
    #expect(Array(came.prefix(10)) == header)
    let expected: Int = 10 + 3_000_000 + 4 + 1_024 + 500_000
    #expect(came.count == expected)
    await peer.stop()
  }

  @Test func goesOnAfterTheMessagesItAwaits() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript([.awaitMessages(2), .text("two came"), .finish]))
    let visitor = try await Visitor(peer)
    for _ in 0..<2 { try await visitor.send(RawFrame("x".bytes)) }
    #expect(await visitor.receiveToEnd() == RawFrame("two came".bytes).bytes)
    await peer.stop()
  }

  @Test func isGoneWhenStopped() async throws {
    let peer = try await ScriptedWebSocketPeer()
    let visitor = try await Visitor(peer)
    await peer.stop()
    #expect(await visitor.client.receiveToEnd().end != nil)
    await #expect(throws: (any Error).self) { try await LoopbackClient(port: peer.port) }
  }
}

@Suite("Frames, well-formed or not", .timeLimit(.minutes(5)))
struct RawFrameTests {
  /// The examples of RFC 6455, section 5.7, and what no server may send.
  @Test(
    arguments: [
      (RawFrame("Hello".bytes), [0x81, 5, 0x48, 0x65, 0x6C, 0x6C, 0x6F]),
      (
        RawFrame("Hello".bytes).with { $0.mask = [0x37, 0xFA, 0x21, 0x3D] },
        [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
      ),
      (RawFrame("Hel".bytes).with { $0.isFinal = false }, [1, 3, 0x48, 0x65, 0x6C]),
      (RawFrame(opcode: 9, "Hello".bytes), [0x89, 5, 0x48, 0x65, 0x6C, 0x6C, 0x6F]),
      (RawFrame.close(nil), [0x88, 0]),
      (RawFrame.close(1001, "x"), [0x88, 3, 3, 0xE9, 0x78]),
      (RawFrame().with { $0.reserved = 7 }, [0xF1, 0]),
      (RawFrame(opcode: 3), [0x83, 0]),
      (RawFrame().with { $0.declaredLength = 1 << 63 }, [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
      (RawFrame().with { $0.declaredLength = 256 }, [0x81, 126, 1, 0]),
    ] as [(RawFrame, [UInt8])])
  func bytes(frame: RawFrame, bytes: [UInt8]) { #expect(frame.bytes == bytes) }
}

extension WebSocketPeerEvent.Kind {
  var request: WebSocketRequest? { if case .requested(let request) = self { request } else { nil } }
}
