import BridgeCommands
import BridgeErrors
import BridgeSSH
import Testing

/// Keys of FIDO devices: refused by name where nothing else could be offered, else a warning.
@Suite struct SecurityKeysTests {
  private func keys(
    _ config: String, _ arguments: [String] = [], canAsk: Bool = false,
    environment: [String: String] = [:]
  ) throws -> SecurityKeys {
    let settings = try ConnectSettingsTests().settings(
      arguments + ["h"], config: config, files: ["/home/me/.ssh/id_ed25519"],
      environment: environment)
    let typed = arguments.indices.filter { $0 > 0 && arguments[$0 - 1] == "-i" }
    return SecurityKeys(
      settings.host, typed: typed.map { arguments[$0] }, canAskPassword: canAsk,
      isSecurityKey: { $0.hasSuffix("_sk") || $0.hasSuffix("_sk.pub") })
  }

  private static let file = "/home/me/.ssh/config"

  @Test(arguments: ["/k/id_sk", "/k/id_sk.pub"])
  func theOnlyCredentialIsRefusedWithItsLine(_ path: String) throws {
    let keys = try keys("Host h\nIdentityFile \(path)\n")
    #expect(
      keys.error
        == .featureUnavailable(
          feature: "The security key \(path) (sk-) without an ssh-agent that holds it (ssh-add)"
            + " (\(Self.file):2)"))
    #expect(keys.warnings.isEmpty)
  }

  @Test func besideAnotherCredentialItIsAWarning() throws {
    let warning =
      "/k/id_sk is a security key (sk-), which is used through an ssh-agent that holds it "
      + "(ssh-add); it is not offered (\(Self.file):1)"
    let other = try keys("IdentityFile /k/id_sk\nIdentityFile /k/other\n")
    #expect(other.error == nil && other.warnings == [warning])
    let password = try keys("IdentityFile /k/id_sk\n", canAsk: true)
    #expect(password.error == nil && password.warnings == [warning])
  }

  @Test(arguments: [[], ["-i", "/k/id_sk"]]) func anAgentMayHoldIt(_ typed: [String]) throws {
    let keys = try keys("IdentityFile /k/id_sk\n", typed, environment: ["SSH_AUTH_SOCK": "/a"])
    #expect(keys.error == nil && keys.warnings.isEmpty)
  }

  @Test func oneOfTheCommandLineIsRefusedWhateverElseThereIs() throws {
    let keys = try keys("IdentityFile /k/other\n", ["-i", "/k/id_sk"], canAsk: true)
    guard case .featureUnavailable(let feature) = keys.error else {
      Issue.record("\(keys)")
      return
    }
    #expect(feature.contains("/k/id_sk"))
  }

  @Test func withoutOneNothingIsSaid() throws {
    let keys = try keys("IdentityFile /k/other\n")
    #expect(keys.error == nil && keys.warnings.isEmpty)
    #expect(try self.keys("").error == nil)
  }
}
