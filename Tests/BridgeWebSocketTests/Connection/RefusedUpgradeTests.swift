import BridgeErrors
import BridgeFaults
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("A refused upgrade", .timeLimit(.minutes(5)))
struct RefusedUpgradeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var script: WebSocketScript
    var error: AppError
    var kind: FailureKind
    var retryAfter: Int?
    var detail: String?
    var testDescription: String { "\(kind)" }
  }

  private static let envelope = """
    {"error": {"code": "MAINTENANCE", "message": "Back at noon",
    "correlationId": "0b6fcb1c-7a5e-4b52-9a0e-3c9bdb5cbbf1"}}
    """

  private static let cookie = String(repeating: "c", count: 1_000)

  static let cases = [
    Case(
      script: .refusing(401), error: .apiUnauthorized, kind: .refusedUpgrade(status: 401)),
    Case(script: .refusing(407), error: .apiUnauthorized, kind: .refusedUpgrade(status: 407)),
    Case(
      script: .refusing(404), error: .apiNotFound(endpoint: "/chat"),
      kind: .refusedUpgrade(status: 404)),
    Case(
      script: .refusing(429, ["Retry-After": "17"]), error: .apiRateLimited(retryAfter: 17),
      kind: .refusedUpgrade(status: 429), retryAfter: 17),
    Case(
      script: .refusing(403, body: "<html>no</html>"),
      error: .serverError(status: 403, message: nil), kind: .refusedUpgrade(status: 403)),
    Case(
      script: .refusing(
        400, ["Content-Type": "text/plain; charset=utf-8"],
        body: "Missing subprotocol.\r\nMore.\u{1B}[2J"),
      error: .serverError(status: 400, message: "Missing subprotocol."),
      kind: .refusedUpgrade(status: 400)),
    Case(
      script: .refusing(503, ["Retry-After": "2"], body: envelope),
      error: .serverError(
        status: 503,
        message: """
          Back at noon [MAINTENANCE] (correlation id 0b6fcb1c-7a5e-4b52-9a0e-3c9bdb5cbbf1)
          """), kind: .refusedUpgrade(status: 503), retryAfter: 2),
    Case(
      script: .refusing(302, ["Location": "http://portal.example/login"]),
      error: .webSocketConnectionFailed(
        reason: "It answered with a redirect to http://portal.example/login."),
      kind: .notTheProtocol, detail: "http://portal.example/login"),
    Case(
      script: .refusing(200, ["Location": "http://portal.example/login"]),
      error: .webSocketConnectionFailed(
        reason: "It did not answer as a WebSocket server (HTTP status 200)."),
      kind: .notTheProtocol),
    Case(
      script: .refusing(301, ["Location": "https://127.0.0.1/"]),
      error: .webSocketConnectionFailed(
        reason: "It answered with a redirect to https://127.0.0.1/."),
      kind: .secureOnly, detail: "https://127.0.0.1/"),
    Case(
      script: .refusing(
        101, Dictionary(uniqueKeysWithValues: (0..<20).map { ("Set-Cookie-\($0)", cookie) })),
      error: .webSocketConnectionFailed(
        reason: "The header of its answer is longer than the 16384 bytes that are taken here."),
      kind: .overLimit),
    Case(
      script: .refusing(200, body: "hello"),
      error: .webSocketConnectionFailed(
        reason: "It did not answer as a WebSocket server (HTTP status 200)."),
      kind: .notTheProtocol),
    Case(
      script: WebSocketScript(upgrade: .wrongAccept),
      error: .webSocketConnectionFailed(
        reason:
          "It did not answer as a WebSocket server (an answer to another handshake)."),
      kind: .notTheProtocol),
    Case(
      script: WebSocketScript(upgrade: .accept(subprotocol: "mqtt")),
      error: .webSocketConnectionFailed(
        reason: "It did not answer as a WebSocket server (an answer with the subprotocol mqtt)."),
      kind: .notTheProtocol),
  ]

  @Test("says what the server said", arguments: cases)
  func refusal(_ expected: Case) async throws {
    let peer = try await ScriptedWebSocketPeer(expected.script)
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/chat?ticket=1")
    await #expect(throws: expected.error) { try await connection.connect() }
    let context = await connection.lastFailure
    #expect(context?.kind == expected.kind)
    #expect(context?.phase == .upgrade)
    #expect(context?.retryAfter == expected.retryAfter)
    #expect(context?.detail == expected.detail)
    for await _ in connection.events {}
    await #expect(throws: expected.error) { try await connection.send(text: "late") }
    await peer.stop()
  }

  /// An `Origin` is no secret, and why many servers refuse.
  @Test("shows nothing that was sent in secret")
  func echoedSecrets() async throws {
    let said =
      "tok-4711-tok: ses-4711-ses is not for https://a.example, 4711 4711-bearer pw-4711-pw"
    let peer = try await ScriptedWebSocketPeer(
      .refusing(400, ["Content-Type": "text/plain"], body: said))
    var configuration = WebSocketConfiguration()
    configuration.headers = [
      .init("X-Token", Secret("tok-4711-tok")), .init("Cookie", Secret("sid=ses-4711-ses; n=4711")),
      .init("Origin", Secret("https://a.example")), .init("X-Key", Secret("Key pw-4711-pw")),
    ]
    configuration.bearer = Secret("4711-bearer")
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
    let mark = Redactor.mark
    await #expect(
      throws: AppError.serverError(
        status: 400,
        message: "\(mark): \(mark) is not for https://a.example, 4711 \(mark) \(mark)")
    ) { try await connection.connect() }
    await peer.stop()
  }

  @Test("is read although its body comes in chunks")
  func chunkedBody() async throws {
    let head = "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n"
    let body = #"{"error": {"code": "BUSY", "message": "Later"}}"#
    let size = String(body.utf8.count, radix: 16)
    let peer = try await ScriptedTCPPeer([
      .readUntil("\r\n\r\n"), .send("\(head)\(size)\r\n\(body)\r\n0\r\n\r\n"), .finish,
    ])
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    await #expect(throws: AppError.serverError(status: 503, message: "Later [BUSY]")) {
      try await connection.connect()
    }
    await peer.stop()
  }

  /// A wait for the rest of the body, 40 ms on the reactor, would be in each of them; what a loaded
  /// machine adds is not in all.
  @Test("with a body that never comes does not hold up the reactor")
  func slowBody() async throws {
    let peer = try await ScriptedTCPPeer([
      .readUntil("\r\n\r\n"), .send("HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\n"),
    ])
    var configuration = WebSocketConfiguration()
    configuration.timeouts.upgrade = .seconds(600)
    var fastest = Duration.seconds(600)
    // A busy machine makes many of them slow. A wait would be in each, until the time limit.
    while fastest >= .milliseconds(30) {
      try Task.checkCancellation()
      let connection = try WebSocketConnection(
        to: "ws://127.0.0.1:\(peer.port)/", configuration: configuration)
      let begun = ContinuousClock.now
      await #expect(throws: AppError.serverError(status: 503, message: nil)) {
        try await connection.connect()
      }
      fastest = min(fastest, ContinuousClock.now - begun)
      await connection.close()
    }
    await peer.stop()
  }

  @Test("of 100 KB is read as far as 64 KiB")
  func longBody() async throws {
    let peer = try await ScriptedWebSocketPeer(
      .refusing(500, body: String(repeating: "x", count: 100_000)))
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/")
    await #expect(throws: AppError.serverError(status: 500, message: nil)) {
      try await connection.connect()
    }
    await peer.stop()
  }
}
