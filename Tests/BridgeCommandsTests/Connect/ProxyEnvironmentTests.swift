import BridgeCommands
import BridgeErrors
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("The proxy of the environment") struct ProxyEnvironmentTests {
  private func proxy(
    _ variables: [String: String], for url: String = "wss://server.example/"
  ) throws -> WebSocketProxy? {
    try ProxyEnvironment(variables).proxy(for: try WebSocketEndpoint(url))
  }

  @Test(
    "which variable counts",
    arguments: [
      ("wss", ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
      ("ws", ["http_proxy", "all_proxy", "ALL_PROXY"]),
    ])
  func order(scheme: String, names: [String]) throws {
    let all = [
      "https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY",
    ]
    var left = Dictionary(
      uniqueKeysWithValues: all.map { ($0, "http://\($0)".replacing("_", with: "-")) })
    for name in names {
      let found = try #require(try proxy(left, for: "\(scheme)://server.example/"))
      #expect(found.source == name)
      #expect(found.endpoint.host == name.replacing("_", with: "-"))
      // Empty is as good as not there.
      left[name] = ""
    }
    #expect(try proxy(left, for: "\(scheme)://server.example/") == nil)
    #expect(try proxy([:]) == nil)
  }

  struct Value: Sendable, CustomTestStringConvertible {
    let text: String
    let host: String
    let port: Int
    var credentials: String?
    var testDescription: String { text }

    init(_ text: String, _ host: String, _ port: Int, _ credentials: String? = nil) {
      (self.text, self.host, self.port, self.credentials) = (text, host, port, credentials)
    }
  }

  @Test(
    "the parts of a value",
    arguments: [
      Value("proxy", "proxy", 1080), Value("proxy:3128", "proxy", 3128),
      Value("http://proxy", "proxy", 1080), Value("HTTP://proxy:3128", "proxy", 3128),
      Value("http://proxy:3128/", "proxy", 3128), Value("http://proxy/a?b#c", "proxy", 1080),
      Value("http://192.0.2.1:8080", "192.0.2.1", 8080),
      Value("http://[2001:db8::1]:8080", "2001:db8::1", 8080), Value("[::1]", "::1", 1080),
      Value("http://user@proxy", "proxy", 1080, "user:"),
      Value("http://user:@proxy", "proxy", 1080, "user:"),
      Value("user:pass@proxy:1", "proxy", 1, "user:pass"),
      Value("http://us%65r:p%40s%3as@proxy", "proxy", 1080, "user:p@s:s"),
      Value("http://a:b:c@proxy", "proxy", 1080, "a:b:c"),
      Value("http://a:b@c@proxy", "proxy", 1080, "a:b@c"),
      Value("http://a:%c3%a9@proxy", "proxy", 1080, "a:é"),
    ])
  func parts(_ row: Value) throws {
    let found = try #require(try proxy(["HTTPS_PROXY": row.text]))
    #expect(found.endpoint == Endpoint(host: row.host, port: row.port))
    #expect(found.credentials?.reveal { String(decoding: $0, as: UTF8.self) } == row.credentials)
    #expect(found.source == "HTTPS_PROXY")
  }

  @Test(
    "a value that is none is an error that names the variable, and has no password",
    arguments: [
      ("https://proxy", "over TLS"), ("socks5://proxy", "SOCKS"),
      ("socks5h://me:geheim@p", "SOCKS"),
      ("socks4a://p", "SOCKS"), ("SOCKS://p", "SOCKS"), ("ftp://p", "unknown kind"),
      ("://p", "unknown kind"), ("http://", "is not"), ("http:///x", "is not"),
      ("http://p:0", "is not"), ("http://p:65536", "is not"), ("http://p:", "is not"),
      ("http://p:x", "is not"), ("http://[::1", "is not"), ("http://[::1]x", "is not"),
      ("http://[name]", "is not"), ("http://a b", "blanks"), ("p\u{1B}[2J", "blanks"),
      ("http://é", "blanks"), ("http://-x", "is not"), ("http://me:geheim@", "is not"),
      ("http://me:geh%zzeim@p", "% code"), ("http://me:geheim%0d%0a@p", "% code"),
      ("http://me:geheim%@p", "% code"), ("http://m%3ae:geheim@p", "% code"),
      ("http://me:geheim/1@p", "before its @"), ("http://me:geheim#@p:x", "before its @"),
      ("http://me:gehe im@p", "blanks"), ("https://me:geheim@p", "over TLS"),
      ("http://me:geheim@p:x", "is not"), (String(repeating: "x", count: 4_097), "too long"),
      (String(repeating: "x", count: 113), "is not"),
      ("http://bob:12/geheim@proxy:3128", "before its @"), ("http://bob:geheim", "is not [http"),
    ])
  func refused(_ value: String, _ reason: String) throws {
    for name in ["https_proxy", "ALL_PROXY"] {
      let error = #expect(throws: AppError.self) { try proxy([name: value]) }
      guard case .validationError(let field, let message)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(field == name && message.contains(reason), "\(message)")
      #expect(!message.contains("geh") && !message.contains("eim"), "\(message)")
      #expect(!message.contains("\u{1B}") && message.utf8.count < 600)
      #expect(message.contains("unset \(name)") && message.contains("NO_PROXY"))
    }
  }

  @Test("a value that is none does not matter for a host that needs no proxy")
  func refusedElsewhere() throws {
    #expect(try proxy(["HTTPS_PROXY": "socks5://p", "NO_PROXY": "server.example"]) == nil)
    #expect(try proxy(["HTTPS_PROXY": "socks5://p"], for: "ws://server.example/") == nil)
  }

  @Test("the lower case list counts first, and an empty one is none")
  func lists() throws {
    let proxied = ["HTTPS_PROXY": "p"]
    func found(_ lists: [String: String]) throws -> Bool {
      try proxy(proxied.merging(lists) { $1 }) != nil
    }
    #expect(try !found(["no_proxy": "server.example"]) && !found(["NO_PROXY": "server.example"]))
    #expect(try found(["no_proxy": "other", "NO_PROXY": "server.example"]))
    #expect(try !found(["no_proxy": "", "NO_PROXY": "server.example"]))
  }

  @Test("loopback goes through a proxy like any other host, as with curl")
  func loopback() throws {
    for host in ["localhost", "127.0.0.1", "[::1]"] {
      #expect(try proxy(["HTTPS_PROXY": "p"], for: "wss://\(host)/") != nil)
    }
  }
}

@Suite("NO_PROXY") struct ProxyExclusionsTests {
  /// As curl 7.88 has it (lib/noproxy.c, tests/unit/unit1614.c).
  static let table: [(list: String, host: String, isExcluded: Bool)] = [
    ("*", "any.example", true), ("*", "::1", true), ("a, *", "b", true),
    ("*.example", "a.example", false),
    ("", "a", false), (" , ,", "a", false),
    ("example.com", "example.com", true), ("example.com", "www.example.com", true),
    ("example.com", "nonexample.com", false), ("example.com", "example.com.evil", false),
    (".example.com", "example.com", true), (".example.com", "a.b.example.com", true),
    ("www.example.com", "example.com", false), ("EXAMPLE.com", "Www.Example.COM", true),
    ("example.com.", "example.com", true), ("example.com", "www.example.com.", true),
    ("a,b c\td", "c", true), ("a,b c\td", "d", true), ("a;b", "b", false), (".", "a", false),
    ("localhost", "localhost", true), ("localhost", "localhost.evil", false),
    // A port is part of no entry.
    ("example.com:443", "example.com", false), ("192.0.2.1:443", "192.0.2.1", false),
    ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.10", false),
    ("2.1", "192.0.2.1", false), ("192.0.2.0/24", "192.0.2.99", true),
    ("192.0.2.0/24", "192.0.3.1", false), ("192.0.2.1/32", "192.0.2.1", true),
    ("192.0.2.1/32", "192.0.2.2", false), ("10.0.0.0/8", "10.255.0.1", true),
    ("192.168.0.0/21", "192.168.7.1", true), ("192.168.0.0/21", "192.168.8.1", false),
    ("0.0.0.0/0", "198.51.100.1", true), ("192.0.2.0/33", "192.0.2.0", false),
    ("192.0.2.0/", "192.0.2.0", false), ("192.0.2.0/-1", "192.0.2.0", false),
    ("192.0.2.0/8/8", "192.0.2.0", false), ("192.0.2.0/x", "192.0.2.0", false),
    ("10.0.0.0/8", "ten.example", false), ("10.0.0.0/8", "10.example", false),
    ("::1", "::1", true), ("[::1]", "::1", true), ("0:0:0:0:0:0:0:1", "::1", true),
    ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
    ("2001:db8::/33", "2001:db8:8000::", false), ("fe80::/10", "fe80::1%1", true),
    ("::/0", "192.0.2.1", false), ("0.0.0.0/0", "::1", false),
  ]

  @Test(arguments: table)
  func row(_ list: String, _ host: String, _ isExcluded: Bool) {
    #expect(ProxyExclusions(list).contain(host) == isExcluded)
  }
}
