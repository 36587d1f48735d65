import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket
import Testing

@Suite("On the way to the server", .timeLimit(.minutes(5)))
struct DialTests {
  /// A name server of the test's.
  private func connection(
    to url: String, on reactor: Reactor,
    _ configuration: WebSocketConfiguration = WebSocketConfiguration(),
    lookup: @escaping @Sendable (@escaping @Sendable (Lookup.Answer) -> Void) -> Void
  ) throws -> WebSocketConnection {
    let url = try WebSocketEndpoint(url)
    let resolver = Resolver(lookup: Lookup { _, _, answer in lookup(answer) })
    let route = Route(
      url.endpoint, on: reactor, resolver: resolver, winners: Mutex(WinnerMemory()))
    return WebSocketConnection(to: url, configuration: configuration, by: route, on: reactor)
  }

  private func echo(_ text: String, through connection: WebSocketConnection) async throws {
    try await connection.send(text: text)
    #expect(try await connection.messages.makeAsyncIterator().next() == .text(text))
  }

  @Test("an IPv6 address that swallows everything does not keep it from a good IPv4 address")
  func blackHole() async throws {
    var peer = try await ScriptedWebSocketPeer(.echo)
    var hole = BlackHole(at: peer.port)
    // The port may be taken in the other family.
    for _ in 0..<20 where hole == nil {
      await peer.stop()
      peer = try await ScriptedWebSocketPeer(.echo)
      hole = BlackHole(at: peer.port)
    }
    try #require(hole != nil)
    let addresses = ["::1", "127.0.0.1"].compactMap { NetworkAddress(numeric: $0) }
    let reactor = Reactor(name: "ws-dial")
    let connection = try connection(to: "ws://two.example:\(peer.port)/", on: reactor) {
      $0(.success(addresses))
    }
    try await connection.connect()
    try await echo("over IPv4", through: connection)
    await connection.close()
    await reactor.stop()
    withExtendedLifetime(hole) {}
    await peer.stop()
  }

  @Test("an unknown name, or one that cannot be looked up, is a typed error")
  func badNames() async throws {
    let reactor = Reactor(name: "ws-dial")
    var configuration = WebSocketConfiguration()
    let unknown = try connection(to: "ws://gone.example/", on: reactor) {
      $0(.failure(DialFailure(phase: .resolve, cause: .nameUnknown)))
    }
    let error = await #expect(throws: AppError.self) { try await unknown.connect() }
    #expect(error == .dnsError(host: "gone.example"))
    #expect(await unknown.lastFailure?.kind == .nameUnknown)
    configuration.timeouts.resolve = .milliseconds(50)
    let silent = try connection(to: "ws://slow.example/", on: reactor, configuration) { _ in }
    await #expect(throws: AppError.self) { try await silent.connect() }
    #expect(await silent.lastFailure?.phase == .resolve)
    for connection in [unknown, silent] { for await _ in connection.events {} }
    await reactor.stop()
  }

  @Test("while a name server does not answer, other connections of the reactor go on")
  func silentNameServer() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let reactor = Reactor(name: "ws-dial")
    var configuration = WebSocketConfiguration()
    configuration.timeouts.resolve = .seconds(600)
    let waiting = try connection(to: "ws://slow.example/", on: reactor, configuration) { _ in }
    let connecting = Task { try await waiting.connect() }
    for await event in waiting.events where event == .entered(.resolve) { break }
    let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(peer.port)/", on: reactor)
    try await connection.connect()
    for round in 0..<100 { try await echo("\(round)", through: connection) }
    await connection.close()
    connecting.cancel()
    await #expect(throws: AppError.cancelled) { try await connecting.value }
    await reactor.stop()
    await peer.stop()
  }

  @Test("a stopped server holds up neither a dial, nor a connection, nor its end")
  func stoppedServer() async throws {
    let certificates = try Certificates()
    try certificates.issued("server", names: ["IP:127.0.0.1"])
    let peer = try await ScriptedWebSocketPeer(.echo)
    let front = try await TLSFront(to: peer.port, certificates, "server")
    var configuration = WebSocketConfiguration()
    configuration.trust = .authority(file: certificates.authority)
    configuration.timeouts.close = .seconds(600)
    let connection = try await front.connect("127.0.0.1", configuration)
    try await echo("before", through: connection)
    front.freeze()
    await #expect(throws: AppError.webSocketPingTimeout) {
      _ = try await connection.probe(within: .milliseconds(100))
    }
    await connection.close()
    configuration.timeouts.upgrade = .milliseconds(100)
    let late = try WebSocketConnection(
      to: "wss://127.0.0.1:\(front.port)/", configuration: configuration)
    await #expect(throws: AppError.timeout(seconds: 1)) { try await late.connect() }
    #expect(await late.lastFailure?.kind == .silent)
    front.stop()
    await peer.stop()
  }

  @Test("the authorities of this machine are read once, and for TLS only")
  func authoritiesOnce() async throws {
    let plain = try await ScriptedWebSocketPeer(.echo)
    let deaf = try await ScriptedTCPPeer([.read(1), .finish])
    let reactors = [Reactor(name: "ws-ca-0"), Reactor(name: "ws-ca-1")]
    for reactor in reactors {
      let connection = try WebSocketConnection(to: "ws://127.0.0.1:\(plain.port)/", on: reactor)
      try await connection.connect()
      await connection.close()
    }
    await withTaskGroup { group in
      for reactor in reactors + reactors {
        group.addTask {
          guard
            let connection = try? WebSocketConnection(
              to: "wss://127.0.0.1:\(deaf.port)/", on: reactor)
          else { return }
          try? await connection.connect()
          await connection.close()
        }
      }
    }
    #expect(WebSocketLibraries.readingsOfAuthorities == 1)
    for reactor in reactors { await reactor.stop() }
    await plain.stop()
    await deaf.stop()
  }
}
