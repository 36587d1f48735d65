import BridgeErrors
import BridgeSSH
import BridgeTransport
import Testing

@Suite struct ForwardRuleTests {
  private static func port(_ host: String, _ port: Int) -> ForwardRule.Destination {
    .fixed(.port(Endpoint(host: host, port: port)))
  }

  @Test(
    arguments: [
      ("8080:web:80", .port(address: nil, 8080), port("web", 80)),
      ("*:1:web:80", .port(address: "*", 1), port("web", 80)),
      (":1:web:80", .port(address: "*", 1), port("web", 80)),
      ("[::1]:1:[fe80::2%eth0]:80", .port(address: "::1", 1), port("fe80::2%eth0", 80)),
      (
        "127.0.0.2:1:/run/x.sock", .port(address: "127.0.0.2", 1),
        .fixed(.socket(path: "/run/x.sock"))
      ),
      ("1:/run/x", .port(address: nil, 1), .fixed(.socket(path: "/run/x"))),
      ("/tmp/l:web:80", .socket(path: "/tmp/l"), port("web", 80)),
      ("/tmp/l:/run/x", .socket(path: "/tmp/l"), .fixed(.socket(path: "/run/x"))),
      ("${A}/l:run/x", .socket(path: "${A}/l"), .fixed(.socket(path: "run/x"))),
    ] as [(String, ForwardRule.Source, ForwardRule.Destination)])
  func aLocalRuleIsRead(
    _ text: String, _ source: ForwardRule.Source, _ destination: ForwardRule.Destination
  ) throws {
    #expect(
      try ForwardRule(local: text, field: "-L") == ForwardRule(from: source, to: destination))
  }

  @Test(arguments: [
    "", ":", "80", "web:80", "a:b:c:d:e", "1:2:3:4:5:6:7:8:9:10", "x:web:80", "65536:web:80",
    "1:web:0", "1:web:http", "1::80", "1:we b:80", "[::1:1:web:80", "1:[::1]80:2", "-1:web:80",
    "1:web:80:", "0:web:80", "99999999999999999999:web:80",
  ])
  func anotherFormIsRefused(_ text: String) {
    #expect(throws: AppError.self) { try ForwardRule(local: text, field: "-L") }
  }

  @Test(
    arguments: [
      ("1080", .port(address: nil, 1080)), ("*:1080", .port(address: "*", 1080)),
      ("[::1]:1080", .port(address: "::1", 1080)), ("/tmp/s", .socket(path: "/tmp/s")),
    ] as [(String, ForwardRule.Source)])
  func aDynamicRuleIsRead(_ text: String, _ source: ForwardRule.Source) throws {
    let rule = try ForwardRule(dynamic: text, field: "-D")
    #expect(rule == ForwardRule(from: source, to: .dynamic))
    #expect(rule.description == text)
  }

  @Test(
    arguments: [
      ("8080:web:80", .port(address: nil, 8080), port("web", 80)),
      ("0:web:80", .port(address: nil, 0), port("web", 80)),
      ("*:1:web:80", .port(address: "*", 1), port("web", 80)),
      ("1:/run/x", .port(address: nil, 1), .fixed(.socket(path: "/run/x"))),
      ("/tmp/l:web:80", .socket(path: "/tmp/l"), port("web", 80)),
      ("1080", .port(address: nil, 1080), .dynamic),
      ("[::1]:1080", .port(address: "::1", 1080), .dynamic),
    ] as [(String, ForwardRule.Source, ForwardRule.Destination)])
  func aRemoteRuleIsRead(
    _ text: String, _ source: ForwardRule.Source, _ destination: ForwardRule.Destination
  ) throws {
    let rule = try ForwardRule(remote: text, field: "-R")
    #expect(rule == ForwardRule(from: source, to: destination, on: .remote))
    #expect(rule.description == text)
    #expect(rule.name == "-R \(text)")
  }

  @Test(arguments: ["", "web:80:1", "a b:1:web:80", "65536", "1:web:0", "web:1:2:3:4"])
  func anotherRemoteFormIsRefused(_ text: String) {
    #expect(throws: AppError.self) { try ForwardRule(remote: text, field: "-R") }
  }

  @Test(arguments: ["web:80", "[::1]:22", "/run/x", "run/x"])
  func aTargetIsRead(_ text: String) throws {
    #expect(try ForwardRule.target(text, field: "-W").description == text)
  }

  @Test(arguments: ["web", "web:0", "web:80:1", ":80"])
  func anotherTargetIsRefused(_ text: String) {
    #expect(throws: AppError.self) { try ForwardRule.target(text, field: "-W") }
  }
}
