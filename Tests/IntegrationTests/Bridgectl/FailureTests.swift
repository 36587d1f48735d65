import BridgeFaults
import Foundation
import Testing

/// Every way to fail before anything runs: the exit code, and the last line that names the error.
@Suite(.timeLimit(.minutes(5))) struct FailureTests {
  @Test(
    arguments: [
      (["connect"], 64, "validationError"), (["connekt"], 64, "validationError"),
      (["connect", "-p", "22x", "h"], 64, "validationError"),
      (["connect", "-p", "3", "h:4"], 64, "validationError"),
      (["connect", "-l", "a", "b@h"], 64, "validationError"),
      (["connect", "a b"], 64, "validationError"),
      (["connect", "h\u{1B}[2J"], 64, "validationError"),
      (["connect", "--", "-oProxyCommand=x"], 64, "validationError"),
      (["connect", "--timeout", "3", "h"], 64, "validationError"),
      (["connect", "--retry", "-1", "h"], 64, "validationError"),
      (["connect", "--events-fd", "60000", "h"], 64, "validationError"),
      (["connect", "-t", "-T", "h"], 64, "validationError"),
      (["connect", "-N", "h", "--", "true"], 64, "validationError"),
      (["connect", "--idempotent", "h"], 64, "validationError"),
      (["connect", "-F", "missing", "h"], 66, "fileNotFound"),
      (["connect", "-o", "RefuseConnection=closed", "h"], 78, "featureUnavailable"),
      (["connect", "-o", "ProxyCommand=exit 1", "h"], 69, "sshConnectionFailed"),
      (["connect", "ws://me:secret@h"], 64, "invalidURL"),
      (["connect", "ws://h/#x"], 64, "invalidURL"),
      (["connect", "-i", "k", "ws://h"], 64, "validationError"),
      (["connect", "ws://h", "--", "true"], 64, "validationError"),
      (["connect", "-H", "a: b", "h"], 64, "validationError"),
      (["connect", "--pin", "abc", "wss://h"], 64, "validationError"),
      (["kill", "--signal", "FOO", "name.invalid", "build"], 64, "validationError"),
      (["logs", "--from", "abc", "name.invalid", "build"], 64, "validationError"),
      (["connect", "wss://name.invalid"], 68, "dnsError"),
      (["connect", "--batch", "name.invalid"], 68, "dnsError"),
      (["errors", "sshTimeoot"], 64, "validationError"),
    ] as [([String], Int32, String)])
  func theExitCodeSaysWhatKind(
    _ arguments: [String], _ code: Int32, _ name: String
  ) async throws {
    let outcome = try await Home().run(arguments)
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [\(name)] "), "\(outcome.error)")
    #expect(outcome.output.isEmpty)
    #expect(!outcome.error.utf8.contains(0x1B))
  }

  /// Swift would replace the byte, and another file would be removed.
  @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
    let outcome = try await Home().start(
      [], through: #"exec "$0" connect --batch 127.0.0.1 -- "rm caf$(printf '\351')""#
    ).outcome()
    #expect(outcome.code == 64 && outcome.lastLine.contains("Argument 5 is not UTF-8"))
  }

  /// What a script reads last, whatever went wrong.
  @Test(
    arguments: [
      ["connect", "--json", "--nonsense", "h"], ["connect", "--json"],
      ["connect", "--json", "-p", "x", "h"], ["connect", "--json", "-F", "missing", "h"],
    ])
  func theLastLineOfJSONIsTheExit(_ arguments: [String]) async throws {
    let outcome = try await Home().run(arguments)
    let ending = "\"event\":\"exit\",\"code\":\(outcome.code)}"
    #expect(outcome.lastLine.hasSuffix(ending), "\(outcome.error)")
    #expect(outcome.error.split(separator: "\n").allSatisfy { $0.hasPrefix("{\"v\":1,") })
  }

  @Test(
    arguments: [
      (["conect", "h"], "\"conect\" is not a command. Did you mean connect? "),
      (["log"], "Did you mean logs? `bridgectl connect log` dials a host of that name."),
    ])
  func anUnknownCommandGetsTheRightOne(_ arguments: [String], _ words: String) async throws {
    let outcome = try await Home().run(arguments)
    #expect(outcome.code == 64)
    #expect(outcome.lastLine.contains(words), "\(outcome.error)")
  }

  @Test(arguments: ["--version", "-V"])
  func theVersionIsAnOptionToo(_ option: String) async throws {
    let outcome = try await Home().run([option])
    let lines = try await Home().run(["version"])
    #expect(outcome.code == 0)
    let words = outcome.text.split(whereSeparator: " ,()\n".contains).map(String.init)
    #expect(words.count == 7 && words[0] == "bridgectl" && words[2] == "libssh2")
    #expect(lines.text.hasPrefix("bridgectl \(words[1])\nlibssh2 \(words[3])\n"))
    #expect(lines.text.contains("\nlibssh2Headers \(words[6])\n"))
  }

  @Test func aBadValueInAFile() async throws {
    let home = try Home()
    try home.write("Host h\n  Port x\u{1B}[2J\n", to: "config")
    let outcome = try await home.run(["connect", "-F", home.file("config"), "h"])
    #expect(outcome.code == 78, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [validationError] "))
    #expect(outcome.lastLine.contains("config:2"))
    #expect(!outcome.error.utf8.contains(0x1B))
  }

  @Test func noMoreSessions() async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxSessions = 0
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(server.options(home) + ["127.0.0.1", "--", "true"])
      #expect(outcome.code == 76, "\(outcome.error)")
      #expect(outcome.error.contains("MaxSessions"))
      #expect(!outcome.error.contains("tunnel"))
    }
  }

  @Test func aPortWhereNothingListens() async throws {
    try await withServer { server, home in
      await server.kill()
      try await expect(69, "sshConnectionFailed", home, server.options(home) + ["127.0.0.1"])
    }
  }

  @Test func aKeyThatIsNotAccepted() async throws {
    try await withServer { server, home in
      try await server.revokeIdentities()
      try await expect(
        77, "sshAuthenticationFailed", home, server.options(home) + ["127.0.0.1", "--", "true"])
    }
  }

  @Test func anUnknownHostWithoutATerminalToAskOn() async throws {
    try await withServer(isKnown: false) { server, home in
      for policy in [
        [], ["--host-key", "strict"], ["--batch"], ["-o", "StrictHostKeyChecking=yes"],
      ] {
        try await expect(
          79, "sshHostKeyUnknown", home,
          server.options(home) + policy + ["127.0.0.1", "--", "true"])
      }
      #expect(home.read("known_hosts").isEmpty)
    }
  }

  @Test func aLineOfKnownHostsThatForbidsANewKeyIsNamed() async throws {
    try await withServer(isKnown: false) { server, home in
      try home.write("# one\n[127.0.0.1]:\(server.port) ssh-ed25519 AAAA\n", to: "known_hosts")
      let outcome = try await home.run(
        server.options(home) + ["--host-key", "accept-new", "--batch", "127.0.0.1", "--", "true"])
      #expect(outcome.code == 79)
      #expect(outcome.error.contains("known_hosts:2: "), "\(outcome.error)")
      #expect(!outcome.error.contains("accept-new"), "\(outcome.error)")
    }
  }

  @Test func aChangedHostKey() async throws {
    try await withServer { server, home in
      try await server.swapHostKeys()
      for policy in ["ask", "accept-new", "strict"] {
        let outcome = try await home.run(
          server.options(home) + ["--host-key", policy, "127.0.0.1", "--", "true"])
        #expect(outcome.code == 79)
        #expect(outcome.lastLine.hasPrefix("bridgectl: [sshHostKeyMismatch] "))
        #expect(!outcome.error.contains("try again"))
      }
    }
  }

  /// By an alias, on terminals of two widths, and the way out that is shown leads out.
  @Test(arguments: [40, 80] as [UInt16])
  func aChangedHostKeyShowsTheCommandThatRemovesIt(_ columns: UInt16) async throws {
    try await withServer { server, home in
      try home.write("Host web\nHostName 127.0.0.1\nPort \(server.port)\n", to: "config")
      try await server.swapHostKeys()
      let options = [
        "connect", "-F", home.file("config"), "-i", server.identityFile, "--known-hosts",
        home.file("known_hosts"), "--durable=never", "--batch",
      ]
      let terminal = try Terminal(columns: columns)
      var screen = try home.start(options + ["web", "--", "true"], on: terminal)
      #expect(await screen.end() == 79)
      // What is erased stands before the first line.
      let shown = screen.transcript.split(separator: "\r\u{1B}[K").last ?? ""
      let lines = shown.split(whereSeparator: \.isNewline)
      let command = try #require(lines.last)
      #expect(command.hasPrefix("    ssh-keygen -f "), "\(screen.transcript)")
      #expect(screen.words.contains("The key of web is not the one on record."))
      #expect(screen.words.contains("known_hosts:"))
      for line in lines.dropLast() where line.count > columns {
        #expect(!line.drop { $0 == " " }.contains(" "), "\(line)")
      }
      let removed = try await Child(
        ["-c", String(command)], program: "/bin/sh", environment: home.environment,
        streams: .descriptors(input: 0, output: 2, error: 2)
      ).ending.code()
      #expect(removed == 0)
      let again = try await home.run(
        options + ["--host-key", "accept-new", "web", "--", "echo", "in"])
      #expect(again.code == 0 && again.text == "in\n", "\(again.error)")
    }
  }

  @Test func anAliasIsTheNameInErrors() async throws {
    try await withServer { server, home in
      try home.write("Host web\nHostName 127.0.0.1\nPort \(server.port)\n", to: "config")
      await server.kill()
      let outcome = try await home.run(
        ["connect", "-F", home.file("config"), "--batch", "web", "--", "true"])
      #expect(outcome.lastLine.contains("connect to web (127.0.0.1). "), "\(outcome.error)")
      let json = try await home.run(
        ["connect", "--json", "-F", home.file("config"), "--batch", "web", "--", "true"])
      #expect(json.error.contains(#""host":"web","address":"127.0.0.1""#), "\(json.error)")
    }
  }

  @Test func aServerThatSaysNothing() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    try await expect(
      124, "sshTimeout", Home(),
      ["connect", "-p", "\(peer.port)", "--timeout", "200ms", "127.0.0.1", "--", "true"])
    await peer.stop()
  }

  @Test(arguments: [["--timeout", "200ms"], ["--wait=200ms"]])
  func aWebSocketServerThatSaysNothing(_ option: [String]) async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    try await expect(
      124, "timeout", Home(), ["connect"] + option + ["ws://127.0.0.1:\(peer.port)"])
    await peer.stop()
  }

  @Test func somethingElseThatAnswers() async throws {
    let peer = try await ScriptedTCPPeer(.http)
    try await expect(
      76, "sshProtocolError", Home(),
      ["connect", "-p", "\(peer.port)", "127.0.0.1", "--", "true"])
    await peer.stop()
  }

  @Test func aPasswordWithoutATerminalNamesTheWaysToGiveOne() async throws {
    var configuration = SSHServerConfiguration()
    configuration.offersPassword = true
    try await withServer(configuration) { server, home in
      try await server.revokeIdentities()
      let outcome = try await home.run(server.options(home) + ["127.0.0.1", "--", "true"])
      #expect(outcome.code == 77)
      #expect(outcome.error.contains("--password-fd"))
      #expect(outcome.error.contains("SSH_ASKPASS"))
    }
  }

  private func expect(
    _ code: Int32, _ name: String, _ home: Home, _ arguments: [String]
  ) async throws {
    let outcome = try await home.run(arguments)
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [\(name)] "), "\(outcome.error)")
    #expect(outcome.output.isEmpty)
  }
}
