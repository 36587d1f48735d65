import BridgeErrors
import Foundation
import Testing

/// `bridgectl errors`, as a person and as a script reads it.
@Suite(.timeLimit(.minutes(5))) struct LookupTests {
  @Test func everyErrorHasItsPage() async throws {
    let outcome = try await Home().run(["errors"])
    #expect(outcome.code == 0 && outcome.error.isEmpty)
    let pages = outcome.text.components(separatedBy: "\n\n")
    #expect(
      pages.map { $0.prefix { $0 != ":" } } == ErrorCatalogue.entries.map { $0.caseName[...] })
  }

  @Test func oneErrorIsOnePage() async throws {
    for name in ["sshHostKeyMismatch", "SSHHOSTKEYMISMATCH"] {
      let outcome = try await Home().run(["errors", name])
      #expect(outcome.code == 0)
      #expect(outcome.text.hasPrefix("sshHostKeyMismatch: Error (ssh, error)\n"))
      #expect(outcome.text.contains("\n  exit code 79\n"))
    }
  }

  @Test func theJSONIsTheCatalogue() async throws {
    let encoder = JSONEncoder()
    let all = try await Home().run(["errors", "--json"])
    #expect(
      try JSONSerialization.jsonObject(with: Data(all.output)) as? NSArray
        == JSONSerialization.jsonObject(with: encoder.encode(ErrorCatalogue.entries)) as? NSArray)
    let one = try await Home().run(["errors", "--json", "cancelled"])
    #expect(
      try JSONSerialization.jsonObject(with: Data(one.output)) as? NSDictionary
        == JSONSerialization.jsonObject(
          with: encoder.encode(ErrorCatalogue.entry(named: "cancelled"))) as? NSDictionary)
    #expect(all.code == 0 && one.code == 0)
  }

  @Test func aMisspelledNameGetsTheRightOne() async throws {
    let outcome = try await Home().run(["errors", "sshTimeoot"])
    #expect(outcome.code == 64)
    #expect(outcome.error.contains("Did you mean") && outcome.error.contains("sshTimeout"))
  }

  @Test func theSettingsForAHostArePrintedAndNothingIsDialed() async throws {
    let home = try Home()
    try home.write("Host web\n  HostName real.example\n  Port 2222\n", to: "config")
    let config = try await home.run(["config", "-F", home.file("config"), "web"])
    #expect(config.code == 0)
    #expect(config.text.contains("port 2222  # \(home.file("config")):3\n"))
    let short = try await home.run(["connect", "-G", "-F", home.file("config"), "web"])
    #expect(short.code == 0)
    #expect(short.text.contains("\nhostname real.example\nport 2222\n"))
    let bad = try await home.run(["config", "-o", "Port=x", "web"])
    #expect(bad.code == 64)
    let webSocket = try await home.run(["config", "ws://h"])
    #expect(webSocket.code == 64)
  }

  /// What packages are made of: each was once cut at 16 KiB.
  @Test func theScriptsForShellsAndTheHelpAsJSONAreWhole() async throws {
    let home = try Home()
    for shell in ["bash", "zsh", "fish"] {
      let script = try await home.run(["--generate-completion-script", shell])
      #expect(script.code == 0 && script.error.isEmpty)
      try home.write(script.text, to: "completion")
      let reading = try await home.run(
        ["-n", home.file("completion")], program: "/usr/bin/\(shell)")
      #expect(reading.code == 0 && reading.error.isEmpty, "\(shell): \(reading.error)")
    }
    let help = try await home.run(["--experimental-dump-help"])
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(help.output)) }
  }

  @Test func aShellCompletesTheHostsOfItsUser() async throws {
    let home = try Home()
    try home.write("Host web build\n", to: ".ssh/config")
    let words = ["---completion", "connect", "--", "positional@0", "2", "4"]
    let hosts = try await home.run(words + ["bridgectl", "connect", "me@b"])
    #expect(hosts.code == 0 && hosts.error.isEmpty, "\(hosts.error)")
    #expect(hosts.text.split(separator: "\n").prefix(2) == ["me@build", "me@web"])
  }

  @Test func aSecurityKeyThatIsNamedIsRefusedBeforeTheDial() async throws {
    func string(_ bytes: [UInt8]) -> [UInt8] {
      [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }
    func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }
    let key =
      string("sk-ssh-ed25519@openssh.com") + string([UInt8](repeating: 7, count: 32))
      + string("ssh:")
    let check: [UInt8] = [1, 2, 3, 4, 1, 2, 3, 4]
    var secret = check + key + [1] + string("handle") + string("") + string("comment")
    var padding: UInt8 = 1
    while secret.count % 8 != 0 {
      secret.append(padding)
      padding += 1
    }
    let file =
      Array("openssh-key-v1\0".utf8) + string("none") + string("none") + string("") + [0, 0, 0, 1]
      + string(key) + string(secret)
    let home = try Home()
    let text = Data(file).base64EncodedString(options: .lineLength64Characters)
    try home.write(
      "-----BEGIN OPENSSH PRIVATE KEY-----\n\(text)\n-----END OPENSSH PRIVATE KEY-----\n", to: "sk")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: home.file("sk"))
    // Nothing listens there: a dial would end with 69.
    let outcome = try await home.run(["connect", "-p", "1", "-i", home.file("sk"), "127.0.0.1"])
    #expect(outcome.code == 78, "\(outcome.error)")
    #expect(outcome.lastLine.contains("security key"), "\(outcome.error)")
    #expect(outcome.lastLine.contains(home.file("sk")))
    try home.write("IdentityFile \(home.file("sk"))\n", to: "config")
    let configured = ["-p", "1", "-F", home.file("config"), "127.0.0.1"]
    for command in ["connect", "doctor"] {
      let outcome = try await home.run([command] + configured)
      #expect(outcome.code == 78, "\(outcome.error)")
      #expect(outcome.lastLine.contains("(\(home.file("config")):1)"), "\(outcome.error)")
    }
    try home.write("IdentityFile \(home.file("other"))\n" + home.read("config"), to: "config")
    let beside = try await home.run(["connect"] + configured)
    #expect(beside.code == 69, "\(beside.error)")
    #expect(beside.error.contains("sk is a security key (sk-)"))
  }
}
