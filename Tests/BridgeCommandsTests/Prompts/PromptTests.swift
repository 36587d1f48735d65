import BridgeCommands
import Testing

@Suite struct PromptTests {
  private static let askpass = ["SSH_ASKPASS": "/ask"]

  private func route(
    _ environment: [String: String], hasTerminal: Bool, isBatch: Bool = false
  ) -> PromptRoute {
    .choose(isBatch: isBatch, hasTerminal: hasTerminal, environment: environment)
  }

  @Test(
    arguments: [
      (nil, false, nil), (nil, true, "/ask"), ("never", true, nil), ("prefer", false, nil),
      ("prefer", true, "/ask"), ("force", false, "/ask"), ("FORCE", false, "/ask"),
    ] as [(String?, Bool, String?)])
  func withoutATerminalTheProgramIsAsked(
    _ require: String?, _ hasDisplay: Bool, _ program: String?
  ) {
    var environment = Self.askpass
    environment["SSH_ASKPASS_REQUIRE"] = require
    if hasDisplay { environment["DISPLAY"] = ":0" }
    let route = route(environment, hasTerminal: false)
    if let program {
      #expect(route == .program(program))
    } else if case .nowhere(let reason) = route {
      #expect(reason.contains("--password-fd"))
    } else {
      Issue.record("\(route)")
    }
  }

  @Test(
    arguments: [
      (nil, .terminal), ("never", .terminal), ("prefer", .program("/ask")),
      ("force", .program("/ask")), ("nonsense", .terminal),
    ] as [(String?, PromptRoute)])
  func aTerminalComesFirst(_ require: String?, _ expected: PromptRoute) {
    var environment = Self.askpass
    environment["WAYLAND_DISPLAY"] = "w"
    environment["SSH_ASKPASS_REQUIRE"] = require
    #expect(route(environment, hasTerminal: true) == expected)
  }

  @Test func batchNeverPrompts() {
    let environment = Self.askpass.merging(["SSH_ASKPASS_REQUIRE": "force"]) { $1 }
    guard case .nowhere = route(environment, hasTerminal: true, isBatch: true) else {
      Issue.record("a person is asked")
      return
    }
  }

  @Test(
    arguments: [
      ("", .refuse), ("no", .refuse), ("NO", .refuse), ("n", .refuse), ("yes", .trust),
      (" Yes ", .trust), ("y", .unclear), ("yes yes", .unclear), ("SHA256:abc", .trust),
      ("sha256:abc", .unclear), ("SHA256:ABC", .unclear), ("SHA256:", .unclear),
    ] as [(String, HostKeyAnswer)])
  func onlyYesOrTheFingerprintTrusts(_ text: String, _ answer: HostKeyAnswer) {
    #expect(HostKeyAnswer(text, fingerprint: "SHA256:abc") == answer)
  }
}
