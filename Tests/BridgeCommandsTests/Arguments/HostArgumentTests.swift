import BridgeCommands
import BridgeErrors
import Testing

@Suite struct HostArgumentTests {
  @Test(arguments: [
    "", " ", "-oProxyCommand=x", "user@-x", "-l@host", "@host", "a b", "host\nx", "host\u{0}",
    "host\u{1B}[2J", "host:", "host:0", "host:65536", "host:-1", "host:+22", "host:22x",
    "host:0x16",
    "host:111111111111111111111", "[::1", "[::1]22", "[]", "[::1]:", "ftp://host", "ssh://",
    "ssh://host/path", "ssh://host?x", "ssh://a%@h", "ssh://a%4g@h", "ssh://a%00@h", "ssh://%0a@h",
    "ssh://%ff@h", "ssh://a%+1@h", ":22", "user@", "ssh://user@:22",
    String(repeating: "a", count: 1 << 20),
  ])
  func refusesWhatIsNoHost(_ text: String) {
    #expect(throws: AppError.self) { try HostArgument(text) }
  }

  @Test func aRefusalIsAUsageErrorWithoutControlCharacters() {
    #expect {
      try HostArgument("a\u{1B}[2Jb")
    } throws: { error in
      guard let error = error as? AppError else { return false }
      let isPlain = error.userMessage.utf8.allSatisfy { $0 >= 32 && $0 != 127 }
      return error.exitCode() == .usage && isPlain
    }
  }

  @Test(
    arguments: [
      ("host", "ssh", nil, "host", nil), ("h:22", "ssh", nil, "h", 22),
      ("me@host:65535", "ssh", "me", "host", 65535), ("a@b@host", "ssh", "a@b", "host", nil),
      ("::1", "ssh", nil, "::1", nil), ("fe80::1%eth0", "ssh", nil, "fe80::1%eth0", nil),
      ("[::1]", "ssh", nil, "::1", nil), ("me@[::1]:2200", "ssh", "me", "::1", 2200),
      ("ssh://host", "ssh", nil, "host", nil), ("SSH://me@host:1/", "ssh", "me", "host", 1),
      ("ssh://ann%40lab@host", "ssh", "ann@lab", "host", nil),
      ("a%40b@h", "ssh", "a%40b", "h", nil),
      ("ws://host:80", "ws", nil, "host", 80), ("wss://[::1]:443", "wss", nil, "::1", 443),
      ("$(x)", "ssh", nil, "$(x)", nil), ("it's", "ssh", nil, "it's", nil),
    ] as [(String, String, String?, String, Int?)])
  func readsEveryForm(
    _ text: String, _ scheme: String, _ user: String?, _ host: String, _ port: Int?
  ) throws {
    let argument = try HostArgument(text)
    #expect(argument.scheme.rawValue == scheme)
    #expect(argument.user == user)
    #expect(argument.host == host)
    #expect(argument.port == port)
  }

  @Test func keepsThePathOfAWebSocket() throws {
    #expect(try HostArgument("wss://host/a/b?c=d").path == "/a/b?c=d")
    #expect(try HostArgument("WSS://host").scheme == .wss)
    #expect(try HostArgument("ws://host?c=d").path == "?c=d")
  }

  @Test(
    arguments: [(nil, nil, nil), (22, nil, 22), (nil, 23, 23), (24, 24, 24)] as [(Int?, Int?, Int?)]
  )
  func whatHostSaysMayBeRepeated(_ own: Int?, _ flag: Int?, _ port: Int?) throws {
    let host = try HostArgument("host" + (own.map { ":\($0)" } ?? ""))
    #expect(try host.port(or: flag) == port)
  }

  @Test func aContradictionIsRefused() throws {
    let host = try HostArgument("me@host:22")
    #expect(throws: AppError.self) { try host.port(or: 23) }
    #expect(throws: AppError.self) { try host.user(or: "you") }
    #expect(throws: AppError.self) { try HostArgument("host").user(or: "-x") }
  }

  @Test(arguments: [
    "ws://u:p@h/", "ws://h:99999/", "ws://h:0/", "ws://h:x/", "ws://h h/", "ws://h\0/", "wss://",
    "WS://h\n/",
  ])
  func aWebSocketAddressThatIsNoneIsAnInvalidURL(_ text: String) {
    #expect {
      try HostArgument(text)
    } throws: { error in
      guard case AppError.invalidURL = error else { return false }
      return true
    }
  }
}
