import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket
import Foundation
import Testing

@Suite("Through an HTTP proxy", .timeLimit(.minutes(5)))
struct ProxyTests {
  private static let head = "HTTP/1.1 200 OK\r\n\r\n"

  private func configuration(
    _ port: Int, at host: String = "127.0.0.1", credentials: String? = nil
  ) -> WebSocketConfiguration {
    var configuration = WebSocketConfiguration()
    configuration.way = .proxy(
      WebSocketProxy(
        at: Endpoint(host: host, port: port), credentials: credentials.map { Secret($0) },
        source: "HTTPS_PROXY"))
    return configuration
  }

  /// Messages of 1 MiB both ways, a ping, and the end.
  private func use(_ connection: WebSocketConnection) async throws {
    let iterator = connection.messages.makeAsyncIterator()
    let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for message in [WebSocketMessage.text("hello"), .binary(bytes)] {
      try await connection.send(message)
      #expect(try await iterator.next() == message)
    }
    _ = try await connection.probe(within: .seconds(50))
    await connection.close()
    #expect(try await iterator.next() == nil)
  }

  @Test("a server whose name only the proxy knows is reached, 1 MiB both ways")
  func plain() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let proxy = try await ConnectProxy(to: ["server.invalid:8080": peer.port])
    let connection = try WebSocketConnection(
      to: "ws://server.invalid:8080/chat", configuration: configuration(proxy.port))
    try await connection.connect()
    try await use(connection)
    let requests = await proxy.requests
    #expect(
      requests == ["CONNECT server.invalid:8080 HTTP/1.1\r\nHost: server.invalid:8080\r\n\r\n"])
    let request = await peer.log.compactMap { event in
      if case .requested(let request) = event.kind { request } else { nil }
    }.first
    #expect(request?.headers["host"] == "server.invalid:8080")
    await proxy.stop()
    await peer.stop()
  }

  @Test(
    "TLS is spoken with the server, which is verified by its own name", arguments: [true, false])
  func secure(isRightName: Bool) async throws {
    let certificates = try Certificates()
    try certificates.issued(
      "server", names: [isRightName ? "DNS:server.invalid" : "DNS:127.0.0.1"])
    let peer = try await ScriptedWebSocketPeer(.echo)
    let front = try await TLSFront(to: peer.port, certificates, "server")
    let proxy = try await ConnectProxy(
      to: ["server.invalid:443": front.port], credentials: "Basic dXNlcjpwYXNz")
    var configuration = configuration(proxy.port, credentials: "user:pass")
    configuration.trust = .authority(file: certificates.authority)
    while true {
      let connection = try WebSocketConnection(
        to: "wss://server.invalid/", configuration: configuration)
      do throws(AppError) {
        try await connection.connect()
      } catch {
        // Until the front listens the proxy reports that nothing does.
        let failure = await connection.lastFailure
        if failure?.kind == .proxyRefused(status: 502) { continue }
        #expect(!isRightName && failure?.kind == .tls(.wrongName), "\(error)")
        #expect(failure?.proxy == nil)
        break
      }
      #expect(isRightName)
      try await use(connection)
      break
    }
    front.stop()
    await proxy.stop()
    await peer.stop()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let script: PeerScript
    let kind: FailureKind
    let words: String
    var credentials: String?
    var isPermanent = false
    var detail: String?

    init(
      _ answer: String, _ kind: FailureKind, _ words: String, isPermanent: Bool = false,
      credentials: String? = nil, ending: PeerStep = .finish, detail: String? = nil
    ) {
      script = [.readUntil("\r\n\r\n"), .send(answer), ending]
      self.kind = kind
      self.words = words
      self.isPermanent = isPermanent
      self.credentials = credentials
      self.detail = detail
    }

    var testDescription: String { words }
  }

  static let cases = [
    Case(
      "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n", .proxyRefused(status: 407),
      "requires credentials for server.invalid:443 (HTTP status 407: Who).", isPermanent: true),
    Case(
      "HTTP/1.1 407\r\n\r\n", .proxyRefused(status: 407),
      "did not accept the credentials for server.invalid:443 (HTTP status 407).",
      isPermanent: true, credentials: "user:wrong"),
    Case(
      "HTTP/1.1 403 \u{1B}[2J\r\n\r\n", .proxyRefused(status: 403),
      "does not allow a tunnel to server.invalid:443 (HTTP status 403: \\x1b[2J).",
      isPermanent: true),
    Case(
      "HTTP/1.0 502 Bad\r\n\r\n<html>", .proxyRefused(status: 502),
      "could not open a tunnel to server.invalid:443 (HTTP status 502: Bad)."),
    Case(
      "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\n\r\n", .proxyRefused(status: 429),
      "has too many requests to open a tunnel to server.invalid:443 (HTTP status 429: Slow)."),
    Case(
      "HTTP/1.1 302 Found\r\nLocation: http://portal/\r\n\r\n", .notTheProtocol,
      "did not answer as an HTTP proxy (HTTP status 302, redirects to http://portal/).",
      detail: "http://portal/"),
    Case(
      "SSH-2.0-OpenSSH_9.2\r\n", .notTheProtocol,
      "did not answer as an HTTP proxy (it sent no HTTP answer).", ending: .wait(.seconds(60))),
    Case(
      "HTTP/1.1 200 OK\r\na: " + String(repeating: "b", count: 9_000), .notTheProtocol,
      "did not answer as an HTTP proxy (its answer is longer than 8 KiB).",
      ending: .wait(.seconds(60))),
    Case("", .dropped, "closed the connection before it had answered."),
    Case("HTTP/1.1 200 OK\r\n", .dropped, "closed the connection before it had answered."),
    Case("HTTP/1.1 2", .dropped, "closed the connection before it had answered.", ending: .reset),
    Case(
      "", .silent, "did not open a tunnel to server.invalid:443 within 5 s: no answer came.",
      ending: .wait(.seconds(60))),
    Case(
      "HTTP/1.1 200 OK\r\nVia: x", .silent,
      "did not open a tunnel to server.invalid:443 within 5 s: no answer came.",
      ending: .wait(.seconds(60))),
  ]

  @Test("each way not to open a tunnel is a typed error that names the proxy", arguments: cases)
  func refusals(_ row: Case) async throws {
    let peer = try await ScriptedTCPPeer(row.script)
    var configuration = configuration(peer.port, credentials: row.credentials)
    // Only where nothing comes is it awaited.
    if row.kind == .silent { configuration.timeouts.dial = .seconds(5) }
    let connection = try WebSocketConnection(
      to: "wss://server.invalid/", configuration: configuration)
    let place = "127.0.0.1:\(peer.port) (HTTPS_PROXY)"
    await #expect(
      throws: AppError.webSocketConnectionFailed(reason: "The proxy \(place) \(row.words)")
    ) { try await connection.connect() }
    let failure = try #require(await connection.lastFailure)
    #expect(failure.kind == row.kind && failure.phase == .dial)
    #expect(failure.host == "server.invalid" && failure.port == 443)
    #expect(failure.proxy == place && failure.detail == row.detail)
    #expect(failure.kind.retryClass().isAutomatic != row.isPermanent)
    if row.kind == .proxyRefused(status: 429) { #expect(failure.retryAfter == 7) }
    for await _ in connection.events {}
    // Nothing of it stays open, whatever the proxy does.
    await peer.stop()
  }

  @Test("a proxy that cannot be reached is named, and not the server")
  func unreachable() async throws {
    let vacant = try await ScriptedTCPPeer([])
    let port = vacant.port
    await vacant.stop()
    let refused = try WebSocketConnection(
      to: "wss://server.invalid/", configuration: configuration(port))
    await #expect(
      throws: AppError.webSocketConnectionFailed(
        reason: "The proxy 127.0.0.1:\(port) (HTTPS_PROXY) cannot be reached: "
          + "nothing listens on that port.")
    ) { try await refused.connect() }
    #expect(await refused.lastFailure?.kind == .refused)

    let configuration = configuration(port, at: "proxy.invalid")
    let reactor = Reactor(name: "ws-proxy")
    let url = try WebSocketEndpoint("wss://server.invalid/")
    let resolver = Resolver(
      lookup: Lookup { _, _, answer in
        answer(.failure(DialFailure(phase: .resolve, cause: .nameUnknown)))
      })
    let route = Route(
      Endpoint(host: "proxy.invalid", port: port), on: reactor, resolver: resolver,
      winners: Mutex(WinnerMemory()))
    let unknown = WebSocketConnection(to: url, configuration: configuration, by: route, on: reactor)
    await #expect(
      throws: AppError.webSocketConnectionFailed(
        reason: "The proxy proxy.invalid:\(port) (HTTPS_PROXY) has a name that is unknown.")
    ) { try await unknown.connect() }
    #expect(await unknown.lastFailure?.kind == .nameUnknown)
    await reactor.stop()
  }

  @Test("bytes right behind the proxy's answer are the server's, and are not lost")
  func bytesBehindTheAnswer() async throws {
    // Of ws: an answer that comes before the request, in one piece with the proxy's.
    let early = try await ScriptedTCPPeer([
      .readUntil("\r\n\r\n"), .send(Self.head + "HTTP/1.1 418 Teapot\r\n\r\n"), .finish,
    ])
    let plain = try WebSocketConnection(
      to: "ws://server.invalid/", configuration: configuration(early.port))
    await #expect(throws: AppError.serverError(status: 418, message: nil)) {
      try await plain.connect()
    }
    await early.stop()
    // Of wss: what is no TLS is refused as from any server.
    let peer = try await ScriptedWebSocketPeer(.echo)
    let proxy = try await ConnectProxy(to: ["server.invalid:443": peer.port])
    await proxy.greet(with: Array("220 mail.example ESMTP\r\n".utf8))
    let secure = try WebSocketConnection(
      to: "wss://server.invalid/", configuration: configuration(proxy.port))
    await #expect(
      throws: AppError.sslError(description: "The server does not speak TLS on this port.")
    ) { try await secure.connect() }
    #expect(await secure.lastFailure?.kind == .tls(.notTLS))
    await proxy.stop()
    await peer.stop()
  }

  @Test("a server that goes away behind the proxy's answer was dropped by the server")
  func droppedBehindTheAnswer() async throws {
    for (scheme, answer) in [("ws", ""), ("wss", ""), ("ws", "HTTP/1.1 1")] {
      let peer = try await ScriptedTCPPeer([
        .readUntil("\r\n\r\n"), .send(Self.head), .read(1), .send(answer), .finish,
      ])
      let connection = try WebSocketConnection(
        to: "\(scheme)://server.invalid/", configuration: configuration(peer.port))
      await #expect(
        throws: AppError.webSocketConnectionFailed(
          reason: "The server closed the connection during the upgrade to WebSocket.")
      ) { try await connection.connect() }
      let failure = await connection.lastFailure
      #expect(failure?.kind == .dropped && failure?.proxy == nil && failure?.phase == .upgrade)
      await peer.stop()
    }
  }

  @Test("a tunnel that is reset as soon as it is open was dropped")
  func resetBehindTheAnswer() async throws {
    let peer = try await ScriptedTCPPeer([.readUntil("\r\n\r\n"), .send(Self.head), .reset])
    for scheme in ["ws", "wss", "ws", "wss"] {
      let connection = try WebSocketConnection(
        to: "\(scheme)://server.invalid/", configuration: configuration(peer.port))
      await #expect(throws: AppError.self) { try await connection.connect() }
      #expect(await connection.lastFailure?.kind == .dropped)
    }
    await peer.stop()
  }

  @Test("a tunnel that is reset in use is a lost link")
  func reset() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let proxy = try await ConnectProxy(to: ["server.invalid:80": peer.port])
    let connection = try WebSocketConnection(
      to: "ws://server.invalid/", configuration: configuration(proxy.port))
    try await connection.connect()
    await proxy.reset()
    for await _ in connection.events {}
    #expect(await connection.lastFailure?.kind == .linkLost)
    await proxy.stop()
    await peer.stop()
  }

  @Test("a close or a cancellation ends the request for a tunnel", arguments: [true, false])
  func endWhileAsking(byCancellation: Bool) async throws {
    let peer = try await ScriptedTCPPeer([.readUntil("\r\n\r\n")])
    var configuration = configuration(peer.port)
    configuration.timeouts.dial = .seconds(600)
    let connection = try WebSocketConnection(
      to: "wss://server.invalid/", configuration: configuration)
    let connecting = Task { try await connection.connect() }
    _ = try await peer.first { $0.kind == .scriptDone }
    if byCancellation { connecting.cancel() } else { await connection.close() }
    await #expect(throws: AppError.cancelled) { try await connecting.value }
    // The proxy sees the end of it.
    _ = try await peer.first { $0.kind == .closed || $0.kind == .clientFinished }
    await peer.stop()
  }

  @Test("one reactor serves direct connections and tunnels beside each other, and leaves no socket")
  func many() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let proxy = try await ConnectProxy(to: ["server.invalid:80": peer.port])
    let reactor = Reactor(name: "ws-proxy")
    for round in 0..<30 {
      let isDirect = round % 3 == 0
      let connection = try WebSocketConnection(
        to: isDirect ? "ws://127.0.0.1:\(peer.port)/" : "ws://server.invalid/",
        configuration: isDirect ? WebSocketConfiguration() : configuration(proxy.port), on: reactor)
      try await connection.connect()
      try await connection.send(text: "\(round)")
      #expect(try await connection.messages.makeAsyncIterator().next() == .text("\(round)"))
      if round % 2 == 0 { await connection.close() }
    }
    await reactor.stop()
    await proxy.stop()
    await peer.stop()
  }

  @Test("credentials that no proxy would read are refused before anything is dialed")
  func longCredentials() async throws {
    let configuration = configuration(1, credentials: String(repeating: "x", count: 2_049))
    let connection = try WebSocketConnection(
      to: "wss://server.invalid/", configuration: configuration)
    await #expect(
      throws: AppError.validationError(
        field: "HTTPS_PROXY", message: "The proxy's credentials are longer than 2 KiB.")
    ) { try await connection.connect() }
  }
}
