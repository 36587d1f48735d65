import BridgeErrors
import BridgeFaults
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("Over TLS", .timeLimit(.minutes(5)))
struct TLSTests {
  private static let names = ["DNS:localhost", "IP:127.0.0.1"]

  @Test("a server of a private authority is trusted by its file", arguments: ["127.0.0.1"])
  func authority(_ host: String) async throws {
    let certificates = try Certificates()
    try certificates.issued("server", names: Self.names)
    var configuration = WebSocketConfiguration()
    configuration.trust = .authority(file: certificates.authority)
    configuration.bearer = Secret("token-of-mine")
    try await echo(through: certificates, "server", host, configuration)
  }

  @Test("a pinned key is trusted, independent of the issuer")
  func pin() async throws {
    let certificates = try Certificates()
    try certificates.selfSigned("server", names: ["DNS:elsewhere.example"])
    var configuration = WebSocketConfiguration()
    configuration.trust = .pinned(sha256: try certificates.pin("server"))
    try await echo(through: certificates, "server", "127.0.0.1", configuration)
  }

  private func echo(
    through certificates: Certificates, _ name: String, _ host: String,
    _ configuration: WebSocketConfiguration
  ) async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let front = try await TLSFront(to: peer.port, certificates, name)
    let connection = try await front.connect(host, configuration)
    let iterator = connection.messages.makeAsyncIterator()
    for message in [WebSocketMessage.text("hello"), .binary([UInt8](repeating: 9, count: 200_000))]
    {
      try await connection.send(message)
      #expect(try await iterator.next() == message)
    }
    _ = try await connection.probe(within: .seconds(50))
    if let bearer = configuration.bearer {
      let request = await peer.log.compactMap { event in
        if case .requested(let request) = event.kind { request } else { nil }
      }.first
      let token = bearer.reveal { String(decoding: $0, as: UTF8.self) }
      #expect(request?.headers["authorization"] == "Bearer \(token)")
    }
    await connection.close()
    #expect(try await iterator.next() == nil)
    front.stop()
    await peer.stop()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var cause: FailureKind.TLSCause
    var words: String
    var validity = Certificates.Validity.now
    var names = TLSTests.names
    var isSelfSigned = false
    var trustsAuthority = true
    var testDescription: String { "\(cause)" }
  }

  static let cases = [
    Case(
      cause: .unknownIssuer,
      words: "The certificate was issued by an authority this machine does not know.",
      trustsAuthority: false),
    Case(cause: .selfSigned, words: "The certificate is self-signed.", isSelfSigned: true),
    Case(cause: .expired, words: "The certificate has expired.", validity: .past),
    Case(cause: .notYetValid, words: "The certificate is not valid yet.", validity: .future),
    Case(
      cause: .wrongName, words: "The certificate is for another name.",
      names: ["DNS:elsewhere.example"]),
    Case(
      cause: .pinMismatch, words: "The certificate is not the pinned one.", trustsAuthority: false),
  ]

  @Test("an untrusted server is told apart, and is sent nothing", arguments: cases)
  func untrusted(_ expected: Case) async throws {
    let certificates = try Certificates()
    if expected.isSelfSigned {
      try certificates.selfSigned("server", names: expected.names)
    } else {
      try certificates.issued("server", names: expected.names, validity: expected.validity)
    }
    var configuration = WebSocketConfiguration()
    configuration.bearer = Secret("token-of-mine")
    if expected.trustsAuthority { configuration.trust = .authority(file: certificates.authority) }
    if expected.cause == .pinMismatch {
      configuration.trust = .pinned(sha256: [UInt8](repeating: 0, count: 32))
    }
    let peer = try await ScriptedTCPPeer([])
    let front = try await TLSFront(to: peer.port, certificates, "server")
    await #expect(throws: AppError.sslError(description: expected.words)) {
      _ = try await front.connect("127.0.0.1", configuration)
    }
    front.stop()
    await peer.stop()
    #expect(await peer.received.allSatisfy(\.isEmpty))
  }

  @Test(
    "a certificate that is forged or weak is not mistaken for one of an unknown authority",
    arguments: [
      (.badSignature, "The certificate's signature is wrong: it was forged or damaged."),
      (.smallKey, "The certificate's key is too short to be secure."),
      (.weakDigest, "The certificate is signed with a digest that is not secure any more."),
    ] as [(Certificates.Weakness, String)])
  func invalidCertificate(_ weakness: Certificates.Weakness, _ words: String) async throws {
    let certificates = try Certificates()
    try certificates.issued("server", names: Self.names, weakness: weakness)
    var configuration = WebSocketConfiguration()
    configuration.trust = .authority(file: certificates.authority)
    let peer = try await ScriptedTCPPeer([])
    // A server that follows the system's policy would not load such a certificate.
    let front = try await TLSFront(
      to: peer.port, certificates, "server", ["-cipher", "ALL:@SECLEVEL=0"])
    await #expect(throws: AppError.sslError(description: words)) {
      _ = try await front.connect("127.0.0.1", configuration)
    }
    front.stop()
    await peer.stop()
  }

  @Test("a server that speaks plain text is not one")
  func plainText() async throws {
    let peer = try await ScriptedTCPPeer([
      .read(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .finish,
    ])
    let connection = try WebSocketConnection(to: "wss://127.0.0.1:\(peer.port)/")
    await #expect(
      throws: AppError.sslError(description: "The server does not speak TLS on this port.")
    ) { try await connection.connect() }
    #expect(await connection.lastFailure?.kind == .tls(.notTLS))
    await peer.stop()
  }

  @Test("a server that goes away in the handshake was dropped, not distrusted")
  func endOfFile() async throws {
    for ending in [PeerStep.finish, .reset] {
      let peer = try await ScriptedTCPPeer([.read(1), ending])
      let connection = try WebSocketConnection(to: "wss://127.0.0.1:\(peer.port)/")
      let error = await #expect(throws: AppError.self) { try await connection.connect() }
      #expect(await connection.lastFailure?.kind == .dropped, "\(String(describing: error))")
      await peer.stop()
    }
  }

  @Test("a server's alert is not mistaken for plain text")
  func alert() async throws {
    let certificates = try Certificates()
    try certificates.issued("server", names: Self.names)
    let peer = try await ScriptedTCPPeer([])
    let front = try await TLSFront(
      to: peer.port, certificates, "server", ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
    await #expect(
      throws: AppError.webSocketConnectionFailed(
        reason: "It did not answer as a WebSocket server (TLS alert 70).")
    ) { _ = try await front.connect("127.0.0.1", WebSocketConfiguration()) }
    front.stop()
    await peer.stop()
  }

  @Test("a file without an authority is refused before anything is dialed")
  func noAuthority() async throws {
    let connection = try WebSocketConnection(
      to: "wss://127.0.0.1:1/",
      configuration: {
        var configuration = WebSocketConfiguration()
        configuration.trust = .authority(file: "/etc/hostname")
        return configuration
      }())
    await #expect(
      throws: AppError.fileReadError(
        path: "/etc/hostname", reason: "It holds no certificate authority.")
    ) { try await connection.connect() }
  }
}
