import BridgeErrors
import BridgeFaults
import BridgeWebSocket
import Testing

@Suite("A client shows a certificate to the server that wants one", .timeLimit(.minutes(5)))
struct IdentityTests {
  private static let names = ["DNS:localhost", "IP:127.0.0.1"]
  private let certificates: Certificates

  init() throws {
    certificates = try Certificates()
    try certificates.issued("server", names: Self.names)
    try certificates.issued("client", names: ["DNS:client.example"])
  }

  private func file(_ name: String) -> String { "\(certificates.folder)/\(name)" }

  private func identity(_ name: String = "client") -> ClientIdentity {
    ClientIdentity(certificateFile: file("\(name).crt"), keyFile: file("\(name).key"))
  }

  private func configuration(_ identity: ClientIdentity?) -> WebSocketConfiguration {
    var configuration = WebSocketConfiguration()
    configuration.trust = .authority(file: certificates.authority)
    configuration.identity = identity
    return configuration
  }

  /// What a server says that requires a certificate of its authority; nil where it is content.
  private func answer(
    to configuration: WebSocketConfiguration, _ options: [String]
  ) async throws -> AppError? {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let demand = ["-Verify", "2", "-verify_return_error", "-CAfile", certificates.authority]
    let front = try await TLSFront(to: peer.port, certificates, "server", demand + options)
    var error: AppError?
    do throws(AppError) {
      let connection = try await front.connect("127.0.0.1", configuration)
      try await connection.send(.text("hello"))
      let echo = try await connection.messages.makeAsyncIterator().next()
      #expect(echo == .text("hello"))
      await connection.close()
    } catch {
      let requests = await peer.log.filter { if case .requested = $0.kind { true } else { false } }
      #expect(requests.isEmpty)
      // It is typed, and not repeated.
      #expect(error.exitCode().rawValue == 79)
      return await finish(front, peer, error)
    }
    error = nil
    return await finish(front, peer, error)
  }

  private func finish(
    _ front: TLSFront, _ peer: ScriptedWebSocketPeer, _ error: AppError?
  ) async -> AppError? {
    front.stop()
    await peer.stop()
    return error
  }

  static let versions = ["-tls1_2", "-tls1_3"]
  private static let refused = AppError.sslError(
    description: "The server refuses the certificate of this client.")

  @Test(arguments: versions) func oneOfTheServersAuthorityIsTaken(_ version: String) async throws {
    #expect(try await answer(to: configuration(identity()), [version]) == nil)
  }

  @Test(arguments: versions) func withoutOneTheServerIsSaidToWantIt(_ version: String) async throws
  {
    #expect(
      try await answer(to: configuration(nil), [version])
        == .sslError(description: "The server wants a certificate of this client, and none is set.")
    )
  }

  @Test(arguments: versions) func oneOfAnotherAuthorityIsRefused(_ version: String) async throws {
    try certificates.selfSigned("stranger", names: ["DNS:client.example"])
    #expect(
      try await answer(to: configuration(identity("stranger")), [version]) == Self.refused)
  }

  @Test(arguments: versions) func oneThatHasExpiredIsRefused(_ version: String) async throws {
    try certificates.issued("old", names: ["DNS:client.example"], validity: .past)
    #expect(try await answer(to: configuration(identity("old")), [version]) == Self.refused)
  }

  @Test func aKeyThatIsEncryptedNeedsItsPassphrase() async throws {
    try certificates.lock("client", with: "open sesame")
    var identity = identity()
    identity.keyFile = file("client.locked")
    for passphrase in [nil, Secret(""), Secret("wrong")] {
      identity.passphrase = passphrase
      let reason = "Its key is encrypted, and the passphrase is missing or wrong."
      #expect(
        await refusal(identity) == .fileReadError(path: file("client.locked"), reason: reason))
    }
    identity.passphrase = Secret("open sesame")
    #expect(try await answer(to: configuration(identity), []) == nil)
  }

  @Test func filesThatAreNoneAreNamed() async throws {
    try certificates.issued("other", names: ["DNS:client.example"])
    let cases = [
      ("client.crt", "none.key", "none.key", "It cannot be read."),
      ("none.crt", "client.key", "none.crt", "It cannot be read."),
      ("client.key", "client.key", "client.key", "It holds no certificate."),
      ("client.crt", "client.crt", "client.crt", "It holds no key."),
      (
        "client.crt", "other.key", "other.key",
        "Its key is not that of \(file("client.crt"))."
      ),
    ]
    for (certificate, key, named, reason) in cases {
      let identity = ClientIdentity(certificateFile: file(certificate), keyFile: file(key))
      #expect(await refusal(identity) == .fileReadError(path: file(named), reason: reason))
    }
  }

  /// Nothing is dialed.
  private func refusal(_ identity: ClientIdentity) async -> AppError? {
    do throws(AppError) {
      try await WebSocketConnection(
        to: "wss://127.0.0.1:1/", configuration: configuration(identity)
      ).connect()
      return nil
    } catch {
      return error
    }
  }
}

@Suite("A server may be reached at another name than its own", .timeLimit(.minutes(5)))
struct ServerNameTests {
  /// The server has a certificate for its own name only where TLS asks for that one.
  @Test func itIsTheNameInTLSInTheCertificateAndInTheRequest() async throws {
    let certificates = try Certificates()
    try certificates.issued("other", names: ["DNS:other.example"])
    try certificates.issued("own", names: ["DNS:app.example"])
    var configuration = WebSocketConfiguration()
    configuration.trust = .authority(file: certificates.authority)
    configuration.serverName = "app.example"
    let peer = try await ScriptedWebSocketPeer(.echo)
    let front = try await TLSFront(
      to: peer.port, certificates, "other",
      [
        "-servername", "app.example", "-servername_fatal",
        "-cert2", "\(certificates.folder)/own.crt", "-key2", "\(certificates.folder)/own.key",
      ])
    let connection = try await front.connect("127.0.0.1", configuration)
    await connection.close()
    let hosts = await peer.log.compactMap { event in
      if case .requested(let request) = event.kind { request.headers["host"] } else { nil }
    }
    #expect(hosts == ["app.example"])
    front.stop()
    await peer.stop()
  }

  @Test(arguments: ["", "a b", "a/b", "-a", "a:80", "ü", String(repeating: "a", count: 113)])
  func whatIsNoNameIsRefused(_ name: String) async throws {
    var configuration = WebSocketConfiguration()
    configuration.serverName = name
    let connection = try WebSocketConnection(
      to: "ws://127.0.0.1:1/", configuration: configuration)
    let error = await #expect(throws: AppError.self) { try await connection.connect() }
    #expect(error?.caseName == "validationError")
  }
}
