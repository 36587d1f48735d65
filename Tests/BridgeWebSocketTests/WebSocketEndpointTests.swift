import BridgeErrors
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("A WebSocket URL")
struct WebSocketEndpointTests {
  @Test(
    "is taken apart",
    arguments: [
      ("ws://example.org", "example.org", 80, false, "/"),
      ("wss://example.org", "example.org", 443, true, "/"),
      ("WSS://Example.org:8443/a/b?c=d", "Example.org", 8443, true, "/a/b?c=d"),
      ("ws://example.org?x=1", "example.org", 80, false, "/?x=1"),
      ("ws://[::1]:81/x", "::1", 81, false, "/x"),
      ("wss://127.0.0.1:65535/", "127.0.0.1", 65535, true, "/"),
      ("ws://a_b.example/%20", "a_b.example", 80, false, "/%20"),
    ])
  func parts(
    _ url: String, _ host: String, _ port: Int, _ isSecure: Bool, _ target: String
  ) throws {
    let endpoint = try WebSocketEndpoint(url)
    #expect(endpoint.endpoint == Endpoint(host: host, port: port))
    #expect(endpoint.isSecure == isSecure)
    #expect(endpoint.target == target)
  }

  @Test(
    "that is none, or could mean two things, is refused",
    arguments: [
      "", "ws:", "ws:/a", "ws://", "http://example.org", "example.org", "ws:///path",
      "ws://example.org:0/", "ws://example.org:65536/", "ws://example.org:/", "ws://a:b/",
      "ws://example.org:8 0/", "ws://exa mple.org/", "ws://example.org/a b", "ws://a\0b/",
      "ws://example.org/\r\nX: y", "ws://example.org/#top", "ws://ex\u{E4}mple.org/",
      "ws://[::1/", "ws://[]/", "ws://[example.org]/", "ws://::1/", "ws://example.org\\@evil/",
      "ws://-oProxyCommand/", "ws://example.org:80:81/", "ws://[::1]x/", "ws://[::1]9443/",
      "ws://[::1]9443",
      "ws://" + String(repeating: "a", count: 113) + "/",
      "ws://example.org/" + String(repeating: "a", count: 1_900),
    ])
  func refused(_ url: String) {
    let error = #expect(throws: AppError.self) { try WebSocketEndpoint(url) }
    guard case .invalidURL = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(
    "with credentials is refused without repeating them",
    arguments: [
      "ws://user:hunter2@example.org/", "wss://hunter2@example.org", "http://u:hunter2@example.org",
      "ws://u:hunter2@example.org/ ",
    ])
  func credentials(_ url: String) {
    let error = #expect(throws: AppError.self) { try WebSocketEndpoint(url) }
    #expect("\(String(describing: error))".contains("hunter2") == false)
  }

  @Test("describes itself without its query, which may carry a token")
  func description() throws {
    let endpoint = try WebSocketEndpoint("wss://[fe80::1]:443/chat?access_token=abc")
    #expect(endpoint.description == "wss://[fe80::1]/chat")
  }
}
