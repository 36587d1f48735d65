import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import Testing

@Suite struct ConfigReportTests {
  private func report(_ arguments: [String], _ config: String) throws -> ConfigReport {
    let request = try ConnectRequest(ConnectOptions.parse(arguments))
    return try ConfigReport(
      request,
      in: HostEnvironment(
        home: "/home/me", user: "me", userID: 1001, hostName: "desk",
        isThere: { _ in false },
        files: ClientConfig.Files(
          read: { (path, _) throws(AppError) -> String? in
            ["/home/me/.ssh/config": config, "/revoked": ""][path]
          }, names: { _ in [] })))
  }

  private static let config = """
    Host web
      HostName real.example
      IdentityFile ~/a
      LocalForward 8080 intranet:80
      RemoteForward 9090 localhost:90
      ProxyJump hop
    Host *
      User bob
      IdentityFile ~/b
      GatewayPorts yes
    """

  private static let file = "/home/me/.ssh/config"

  @Test(arguments: [
    ("host", "web", "HOST"), ("hostname", "real.example", "\(file):2"),
    ("user", "bob", "\(file):8"),
    ("port", "2222", "-o Port=2222"), ("addressfamily", "inet", "-4"),
    ("identityfile", "/home/me/a", "\(file):3"), ("identityfile", "/home/me/b", "\(file):9"),
    ("localforward", "[*]:8080 [intranet]:80", "\(file):4"),
    ("localforward", "[*]:1 [h]:2", "-L"),
    ("remoteforward", "9090 [localhost]:90", "\(file):5"), ("proxyjump", "hop", "\(file):6"),
    ("through", "bob@hop:22", nil), ("connecttimeout", "none", nil),
    ("serveraliveinterval", "5", nil), ("gatewayports", "yes", "\(file):10"),
  ])
  func eachValueHasItsPlace(keyword: String, value: String, source: String?) throws {
    let report = try report(["-p", "2222", "-4", "-L", "1:h:2", "web"], Self.config)
    let lines = report.lines.filter { $0.keyword == keyword }
    #expect(lines.contains { $0.value == value && $0.source == source }, "\(lines)")
  }

  @Test(arguments: ConfigKeyword.table.map(\.name))
  func everyKeywordIsPrinted(_ keyword: String) throws {
    let value = try #require(KeywordEffectTests.values[keyword])
    do {
      let lines = try report(["web"], "\(keyword) \(value)\n").lines
      #expect(
        lines.contains {
          $0.keyword == keyword.lowercased() && $0.source == "\(Self.file):1"
        }, "\(lines)")
    } catch let failure as CommandFailure {
      guard case .featureUnavailable = failure.error else { throw failure }
    }
  }

  @Test func aWayInACircleIsAWarning() throws {
    let report = try report(["web"], "ProxyJump hop\n")
    #expect(report.lines.contains { $0.keyword == "proxyjump" && $0.value == "hop" })
    #expect(report.warnings.contains { $0.contains("is circular") })
  }

  @Test func textAndJSONSayTheSame() throws {
    let report = try report(["me@web"], Self.config)
    #expect(report.text(withSources: false).contains("user me\n"))
    #expect(report.text(withSources: true).contains("user me  # HOST\n"))
    #expect(report.text(withSources: true).contains("connecttimeout none  # default\n"))
    let line = #"{"v":1,"keyword":"hostname","value":"real.example","source":"\#(Self.file):2"}"#
    #expect(report.json.contains(line + "\n"))
  }
}
