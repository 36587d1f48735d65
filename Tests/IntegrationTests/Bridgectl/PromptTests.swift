import BridgeFaults
import BridgeWaiting
import Foundation
import Testing

/// Where passphrases come from: a terminal, a program, a descriptor; never the command line.
@Suite(.timeLimit(.minutes(5))) struct PromptTests {
  private func withLockedKey(
    _ body: (SSHServer, Home, [String]) async throws -> Void
  ) async throws {
    try await withServer { server, home in
      let key = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let options = [
        "connect", "-p", "\(server.port)", "-i", key, "--known-hosts", home.file("known_hosts"),
      ]
      try await body(server, home, options)
    }
  }

  /// A terminal on which the passphrase is asked for.
  private func asking(_ home: Home, _ options: [String]) async throws -> Screen {
    var screen = try home.start(options + ["127.0.0.1", "--", "exit 5"], on: try Terminal())
    try await screen.see("Passphrase of the key")
    try await screen.see(": ")
    return screen
  }

  @Test func onATerminalWithoutEcho() async throws {
    try await withLockedKey { server, home, options in
      var screen = try await asking(home, options)
      screen.type("open sesame\r")
      #expect(await screen.end() == 5)
      #expect(!screen.transcript.contains("sesame"))
      #expect(screen.isRestored)
    }
  }

  /// The shell would show it, and run it with the next Return.
  @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func halfASecretIsNotLeftToTheShell(
    _ signal: Int32
  ) async throws {
    try await withLockedKey { server, home, options in
      var screen = try await asking(home, options)
      screen.type("open ses")
      screen.signal(signal)
      #expect(await screen.end() == 128 + signal)
      #expect(screen.isRestored && screen.unread == 0)
    }
  }

  @Test func fromAProgram() async throws {
    try await withLockedKey { server, home, options in
      try home.write("#!/bin/sh\necho open sesame\n", to: "ask")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: home.file("ask"))
      let outcome = try await home.run(
        options + ["127.0.0.1", "--", "exit 5"],
        environment: ["SSH_ASKPASS": home.file("ask"), "SSH_ASKPASS_REQUIRE": "force"])
      #expect(outcome.code == 5, "\(outcome.error)")
    }
  }

  @Test func aProgramThatCannotStartIsNamed() async throws {
    try await withLockedKey { server, home, options in
      let outcome = try await home.run(
        options + ["127.0.0.1", "--", "true"],
        environment: ["SSH_ASKPASS": home.file("none"), "SSH_ASKPASS_REQUIRE": "force"])
      #expect(outcome.code == 65)
      #expect(
        outcome.error.contains(
          "SSH_ASKPASS: \(home.file("none")) cannot be started: No such file or directory."))
    }
  }

  @Test func fromADescriptorWhoseRestIsTheInput() async throws {
    try await withLockedKey { server, home, options in
      let outcome = try await home.run(
        options + ["--password-fd", "0", "127.0.0.1", "--", "cat"],
        input: Array("open sesame\nthe rest".utf8))
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.text == "the rest")
    }
  }

  @Test(arguments: [[], ["--batch"]])
  func elseTheErrorNamesTheWays(_ more: [String]) async throws {
    try await withLockedKey { server, home, options in
      let outcome = try await home.run(options + more + ["127.0.0.1", "--", "true"])
      #expect(outcome.code == 65)
      #expect(outcome.error.contains("--password-fd"))
      #expect(outcome.lastLine.hasPrefix("bridgectl: [sshKeyInvalid] "))
    }
  }
}

/// Passwords that a real sshd accepts, asked for by it or by us.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled("A password of our own for sshd takes root and the right to mount") {
    await SSHServer.canReplacePasswords()
  })
struct PasswordTests {
  private func withAccount(
    _ method: String, _ body: (SSHServer, Home) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    configuration.passwordHash = SSHServerConfiguration.hashOfOpenSesame
    configuration.offersPassword = method == "password"
    configuration.offersKeyboardInteractive = method != "password"
    try await withServer(configuration) { server, home in
      try await server.revokeIdentities()
      try await body(server, home)
    }
  }

  @Test(arguments: ["password", "keyboard-interactive"])
  func onATerminalAfterAWrongOne(_ method: String) async throws {
    try await withAccount(method) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(server.options(home) + ["-N", "127.0.0.1"], on: terminal)
      try await screen.see(method == "password" ? "Password of" : "asks) ")
      screen.type("wrong\r")
      try await screen.see("refused")
      try await screen.see(": ")
      screen.type("open sesame\r")
      try await screen.see("connected")
      screen.type("\u{3}")
      #expect(await screen.end() == 130)
      #expect(!screen.transcript.contains("sesame"))
      #expect(screen.isRestored)
    }
  }

  /// As with ssh, also where the server takes passwords: the same question, three times.
  @Test func aQuestionIsAskedThreeTimes() async throws {
    var configuration = SSHServerConfiguration()
    configuration.passwordHash = SSHServerConfiguration.hashOfOpenSesame
    (configuration.offersPassword, configuration.offersKeyboardInteractive) = (true, true)
    try await withServer(configuration) { server, home in
      try await server.revokeIdentities()
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["-o", "PasswordAuthentication=no", "127.0.0.1", "--", "exit 4"],
        on: terminal)
      for answer in ["wrong", "wrong too", "open sesame"] {
        try await screen.see("asks) ")
        try await screen.see(": ")
        screen.type(answer + "\r")
      }
      #expect(await screen.end() == 4)
    }
  }

  /// A password that may not be used is neither asked for nor sent.
  @Test(arguments: [
    ("password", "PasswordAuthentication=no"), ("password", "PreferredAuthentications=publickey"),
    ("password", "NumberOfPasswordPrompts=0"), ("password", "BatchMode=yes"),
    ("keyboard-interactive", "KbdInteractiveAuthentication=no"),
  ])
  func aMethodThatIsSwitchedOffIsNotUsed(_ method: String, _ option: String) async throws {
    try await withAccount(method) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["-o", option, "127.0.0.1", "--", "true"], on: terminal)
      #expect(await screen.end() == 77)
      #expect(!screen.transcript.contains("assword:") && !screen.transcript.contains("Password of"))
    }
  }

  @Test func fromADescriptorWhoseRestIsTheInput() async throws {
    try await withAccount("password") { server, home in
      let outcome = try await home.run(
        server.options(home) + ["--password-fd", "0", "127.0.0.1", "--", "cat"],
        input: Array("open sesame\nthe rest".utf8))
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.text == "the rest")
    }
  }

  /// Behind one name: the password of the hop is not for the host behind it, and the reverse, the
  /// first time and after a cut of either.
  @Test func aJumpHostAndItsTargetKeepTheirPasswordsApart() async throws {
    try await withAccount("password") { target, home in
      var configuration = SSHServerConfiguration()
      configuration.passwordHash = SSHServerConfiguration.hashOfCloseSesame
      configuration.offersPassword = true
      let hop = try await SSHServer(configuration)
      do {
        try await hop.revokeIdentities()
        try home.write(await hop.knownHosts + target.knownHosts, to: "known_hosts")
        try await connect(through: hop, to: target, home)
      } catch {
        await hop.stop()
        throw error
      }
      await hop.stop()
    }
  }

  /// Programs that type a password for `ssh` wait for its words.
  @Test func inPlaceOfSSHItAsksInTheWordsOfSSH() async throws {
    try await withAccount("password") { server, home in
      let fresh = home.file("no_hosts_yet")
      var screen = try home.start(
        [
          "ssh", "-F", "none", "-p", "\(server.port)", "-o", "UserKnownHostsFile=\(fresh)",
          "\(server.user)@127.0.0.1", "exit 3",
        ], on: try Terminal())
      try await screen.see("The authenticity of host")
      try await screen.see("(yes/no/[fingerprint])? ")
      screen.type("yes\r")
      try await screen.see("\(server.user)@127.0.0.1's password: ")
      screen.type("open sesame\r")
      #expect(await screen.end() == 3)
    }
  }

  /// Asking again is no advice.
  @Test func aKeyThatIsNotTrustedEndsTheRunInWords() async throws {
    try await withAccount("password") { server, home in
      let fresh = home.file("no_hosts_yet")
      var screen = try home.start(
        ["connect", "-p", "\(server.port)", "--known-hosts", fresh, "\(server.user)@127.0.0.1"],
        on: try Terminal())
      try await screen.see("Trust it? [yes/NO/fingerprint] ")
      screen.type("no\r")
      #expect(await screen.end() == 79)
      let words = screen.transcript.replacing("\r\n", with: " ")
      #expect(words.contains("You did not trust its key"), "\(words)")
      #expect(!words.contains("--host-key ask"), "\(words)")
      #expect(FileManager.default.fileExists(atPath: fresh) == false)
    }
  }

  private func connect(through hop: SSHServer, to target: SSHServer, _ home: Home) async throws {
    try home.write(
      "Host *\n  UserKnownHostsFile \(home.file("known_hosts"))\n  PubkeyAuthentication no\n",
      to: "config")
    let terminal = try Terminal()
    let user = target.user
    var screen = try home.start(
      [
        "connect", "-F", home.file("config"), "-J", "\(user)@127.0.0.1:\(hop.port)", "-p",
        "\(target.port)", "-N", "--json", "\(user)@127.0.0.1",
      ], on: terminal)
    try await screen.see("Password of \(user) at 127.0.0.1:\(hop.port) (jump host): ")
    screen.type("close sesame\r")
    try await screen.see("Password of \(user) at 127.0.0.1:\(target.port): ")
    screen.type("open sesame\r")
    let isBack = #""event":"recovered","source":"ssh:127.0.0.1:\#(target.port)#1""#
    try await screen.see(isBack)
    for server in [hop, target] {
      await server.killSessions()
      try await screen.see(isBack)
    }
    screen.signal(SIGINT)
    #expect(await screen.end() == 130)
    #expect(screen.transcript.components(separatedBy: "Password of").count == 3)
    for server in [hop, target] {
      let log = await server.log
      #expect(!log.contains("Failed password"), "\(log)")
      #expect(log.contains("Accepted password"))
    }
  }

  /// A forward has a login of its own: what is typed meanwhile is the shell's.
  @Test func aForwardAsksNothingInTheMiddleOfAShell() async throws {
    try await withAccount("keyboard-interactive") { server, home in
      let spare = try await FaultProxy(to: 9)
      await spare.stop()
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + [
          "-t", "--durable=never", "-L", "\(spare.port):127.0.0.1:\(server.port)", "127.0.0.1",
          "--", "echo re''ady; exec sh",
        ], on: terminal)
      try await screen.see("asks) ")
      try await screen.see(": ")
      screen.type("open sesame\r")
      try await screen.see("ready")
      // It carries nothing, however it is ended.
      let carried = await banner(at: spare.port)
      #expect(["", "reset\n"].contains(carried), "\(carried)")
      try await screen.see("middle of the")
      screen.type("echo still th''ere; exit 5\r")
      try await screen.see("still there")
      #expect(await screen.end() == 5)
    }
  }
}
