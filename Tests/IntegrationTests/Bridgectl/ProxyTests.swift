import BridgeFaults
import Foundation
import Testing

/// `bridgectl connect ws://…` through the HTTP proxy of the environment.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
  private static let url = "ws://server.invalid:8080/chat"

  private func run(
    _ options: [String] = [], through proxy: Int, credentials: String = "",
    input: [UInt8] = Array("one\ntwo".utf8), _ variables: [String: String] = [:]
  ) async throws -> Outcome {
    let environment = ["http_proxy": "http://\(credentials)127.0.0.1:\(proxy)"]
    return try await Home().run(
      ["connect"] + options + [Self.url], input: input,
      environment: environment.merging(variables) { $1 })
  }

  @Test func messagesGoThroughItAndItIsNamedOnce() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let proxy = try await ConnectProxy(
      to: ["server.invalid:8080": peer.port], credentials: "Basic bWU6Z2VoZWlt")
    let outcome = try await run(through: proxy.port, credentials: "me:gehe%69m@")
    #expect(outcome.code == 0 && outcome.text == "one\ntwo\n", "\(outcome.error)")
    #expect(
      outcome.error
        == "bridgectl: connecting through the proxy 127.0.0.1:\(proxy.port) (http_proxy)\n")
    let quiet = try await run(["-q"], through: proxy.port, credentials: "me:geheim@")
    #expect(quiet.code == 0 && quiet.error.isEmpty, "\(quiet.error)")
    await proxy.stop()
    await peer.stop()
  }

  @Test func aLostTunnelIsOpenedAgain() async throws {
    let greeting = WebSocketScript([.text("again")], echoes: true)
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript([.awaitMessages(1), .reset]), greeting,
    ])
    let proxy = try await ConnectProxy(to: ["server.invalid:8080": peer.port])
    let outcome = try await run(["--json"], through: proxy.port, input: Array("one".utf8))
    // The message had arrived, which nothing confirmed.
    #expect(outcome.code == 74 && outcome.text == "again\n", "\(outcome.error)")
    let lines = outcome.error.split(separator: "\n")
    #expect(lines.count { $0.contains(#""event":"recovered""#) } == 2)
    let named = lines.filter { $0.contains(#""event":"proxy""#) }
    #expect(named.count == 1)
    #expect(
      named.first?.hasSuffix(
        #""host":"127.0.0.1","port":\#(proxy.port),"source":"http_proxy"}"#) == true)
    #expect(await proxy.requests.count == 2)
    await proxy.stop()
    await peer.stop()
  }

  @Test(arguments: [("", "requires credentials"), ("me:geheim@", "did not accept the credentials")])
  func wrongCredentialsAreTriedOnce(_ credentials: String, _ words: String) async throws {
    let proxy = try await ConnectProxy(to: [:], credentials: "Basic other")
    let outcome = try await run(["--wait"], through: proxy.port, credentials: credentials)
    #expect(outcome.code == 77, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [webSocketConnectionFailed] "))
    #expect(outcome.error.contains(words) && !outcome.error.contains("geheim"))
    #expect(outcome.error.contains("http://USER:PASSWORD@HOST:PORT"))
    #expect(await proxy.requests.count == 1)
    await proxy.stop()
  }

  @Test func aHostThatIsNotAllowedAndOneThatIsDown() async throws {
    let vacant = try await ScriptedTCPPeer([])
    let port = vacant.port
    await vacant.stop()
    let strict = try await ConnectProxy(to: [:])
    let forbidden = try await run(["--wait"], through: strict.port)
    #expect(forbidden.code == 77 && forbidden.lastLine.contains("does not allow a tunnel to"))
    #expect(forbidden.error.contains("NO_PROXY"))
    #expect(await strict.requests.count == 1)
    await strict.stop()
    let proxy = try await ConnectProxy(to: ["server.invalid:8080": port])
    let down = try await run(through: proxy.port)
    #expect(
      down.code == 69 && down.lastLine.contains("could not open a tunnel to"), "\(down.error)")
    await proxy.stop()
    let gone = try await run(through: port)
    #expect(gone.code == 69, "\(gone.error)")
    #expect(gone.lastLine.contains("The proxy 127.0.0.1:\(port) (http_proxy) cannot be reached"))
  }

  @Test(arguments: ["socks5://me:geheim@127.0.0.1:1", "https://127.0.0.1:1", "http://:1"])
  func aProxyThatCannotBeUsedIsAConfigurationError(_ value: String) async throws {
    let outcome = try await run(through: 1, ["http_proxy": value])
    #expect(outcome.code == 78, "\(outcome.error)")
    #expect(outcome.lastLine.contains("http_proxy") && !outcome.error.contains("geheim"))
    #expect(!outcome.error.contains("through the proxy"))
  }

  @Test func aHostOfTheListIsReachedDirectly() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let outcome = try await Home().run(
      ["connect", "ws://127.0.0.1:\(peer.port)/"], input: Array("hi".utf8),
      environment: ["http_proxy": "socks5://127.0.0.1:1", "NO_PROXY": "10.0.0.0/8,127.0.0.0/8"])
    #expect(
      outcome.code == 0 && outcome.text == "hi\n" && outcome.error.isEmpty, "\(outcome.error)")
    await peer.stop()
  }

  @Test func doctorShowsTheTunnel() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let proxy = try await ConnectProxy(to: ["server.invalid:8080": peer.port])
    let outcome = try await Home().run(
      ["doctor", Self.url], environment: ["http_proxy": "127.0.0.1:\(proxy.port)"])
    #expect(outcome.code == 0, "\(outcome.text)")
    #expect(outcome.text.contains("by the proxy 127.0.0.1:\(proxy.port) (http_proxy)"))
    #expect(outcome.text.contains("127.0.0.1:\(proxy.port): connected"))
    #expect(outcome.text.contains("server.invalid:8080: the proxy opened a tunnel to it"))
    await proxy.stop()
    await peer.stop()
  }
}
