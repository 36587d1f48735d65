import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl doctor`: each step with its result, and the exit code of the first failure.
@Suite(.timeLimit(.minutes(5))) struct DoctorTests {
  /// One line of `--json`.
  private struct Step: Decodable {
    var event: String
    var step: String?
    var target: String?
    var outcome: String?
    var tried: String?
    var message: String?
    var milliseconds: Int?
    var sources: [String]?
    var remedy: String?
    var command: String?
    var `case`: String?
    var phase: String?
    var code: Int?

    var brief: String { "\(step ?? event) \(outcome ?? "")" }
  }

  private func steps(_ outcome: Outcome) throws -> [Step] {
    let lines = outcome.error.split(separator: "\n")
    let all = try lines.map { try JSONDecoder().decode(Step.self, from: Data($0.utf8)) }
    #expect(all.last?.event == "exit" && all.last?.code == Int(outcome.code))
    return all.filter { $0.event == "step" }
  }

  private func options(_ server: SSHServer, _ home: Home, port: Int? = nil) -> [String] {
    ["doctor"] + server.options(home, port: port).dropFirst() + ["--batch"]
  }

  @Test func aHealthyHostHasAStepForEachPhase() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      #expect(outcome.code == 0 && outcome.output.isEmpty, "\(outcome.error)")
      let steps = try steps(outcome)
      #expect(
        steps.map(\.brief) == [
          "config ok", "resolve ok", "connect ok", "banner ok", "keyExchange ok", "hostKey ok",
          "login ok", "channel ok", "command ok", "bridgeHost warning",
        ])
      let target = "127.0.0.1:\(server.port)"
      #expect(steps.dropFirst().allSatisfy { $0.target == target && $0.milliseconds != nil })
      #expect(steps[2].tried == target)
      #expect(steps[3].message?.hasPrefix("SSH-2.0-OpenSSH") == true)
      #expect(steps[5].sources == ["\(home.file("known_hosts")):1"])
      #expect(steps[6].tried?.hasPrefix("\(server.identityFile) (ED25519 SHA256:") == true)
      #expect(steps[6].sources == ["-i"])
      #expect(steps[9].remedy?.contains("bridgectl install") == true)
    }
  }

  @Test func thePeopleText() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(options(server, home) + ["127.0.0.1"])
      #expect(outcome.code == 0 && outcome.error.isEmpty, "\(outcome.error)")
      #expect(outcome.text.contains("\n127.0.0.1:\(server.port) as \(server.user)\n"))
      #expect(outcome.text.contains("  host key      ED25519 SHA256:"))
      #expect(outcome.text.contains("\nIt works, with 1 warning, after "))
      #expect(!outcome.text.utf8.contains(0x1B))
      let colored = try await home.run(options(server, home) + ["--color=always", "127.0.0.1"])
      #expect(colored.text.contains("\u{1B}[32mok"))
    }
  }

  @Test func aClosedPort() async throws {
    try await withServer { server, home in
      await server.kill()
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      #expect(outcome.code == 69)
      let steps = try steps(outcome)
      #expect(
        steps.map(\.brief) == ["config ok", "resolve ok", "connect no", "connect failed"])
      #expect(steps[2].message == "Connection refused")
      #expect(steps[3].case == "sshConnectionFailed" && steps[3].phase == "dial")
      #expect(steps[3].remedy?.contains("nothing listens on that port") == true)
    }
  }

  @Test func anUnknownName() async throws {
    let outcome = try await Home().run(["doctor", "--batch", "--json", "name.invalid"])
    #expect(outcome.code == 68)
    let steps = try steps(outcome)
    #expect(steps.last?.brief == "resolve failed" && steps.last?.case == "dnsError")
  }

  @Test func aChangedHostKeyNamesItsLine() async throws {
    try await withServer { server, home in
      try home.write("# mine\n" + home.read("known_hosts"), to: "known_hosts")
      try await server.swapHostKeys()
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      #expect(outcome.code == 79)
      let step = try #require(try steps(outcome).last)
      #expect(step.brief == "hostKey failed" && step.case == "sshHostKeyMismatch")
      #expect(step.sources == ["\(home.file("known_hosts")):2"])
      #expect(step.command?.hasPrefix("ssh-keygen -f '\(home.file("known_hosts"))'") == true)
      #expect(await !server.log.contains("Accepted"))
    }
  }

  @Test func refusedKeysAreNamedOneByOne() async throws {
    try await withServer { server, home in
      let other = try await server.makeIdentity(.ed25519, name: "other", isAuthorized: false)
      try await server.revokeIdentities()
      try home.write(
        """
        Host web
          HostName 127.0.0.1
          Port \(server.port)
          UserKnownHostsFile \(home.file("known_hosts"))
          IdentityFile \(other)
          IdentityFile \(server.identityFile)
        """, to: "config")
      let outcome = try await home.run(
        ["doctor", "--batch", "--json", "-F", home.file("config"), "web"])
      #expect(outcome.code == 77)
      let logins = try steps(outcome).filter { $0.step == "login" }
      #expect(logins.map(\.outcome) == ["no", "no", "failed"])
      #expect(
        logins.map { $0.tried?.prefix { $0 != " " } } == [
          other[...], server.identityFile[...], nil,
        ])
      #expect(
        logins.prefix(2).map(\.sources) == [
          ["IdentityFile \(home.file("config")):5"], ["IdentityFile \(home.file("config")):6"],
        ])
      #expect(logins[2].remedy?.contains("its public half must be in") == true)
      // Each was offered once.
      #expect(await server.log.matches(of: /Failed publickey/).count <= 2)
    }
  }

  @Test func aKeyFileThatOthersCanReadIsAWarning() async throws {
    try await withServer { server, home in
      let open = try await server.makeIdentity(.ed25519, name: "open", isAuthorized: true)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
      let outcome = try await home.run(
        ["doctor", "-i", open] + options(server, home).dropFirst() + ["--json", "127.0.0.1"])
      #expect(outcome.code == 0, "\(outcome.error)")
      let logins = try steps(outcome).filter { $0.step == "login" }
      #expect(logins.map(\.outcome) == ["warning", "ok"])
      #expect(logins[0].message?.contains("chmod 600 \(open)") == true)
    }
  }

  @Test func aHopThatRefusesIsTheOneThatFails() async throws {
    try await withServer { server, home in
      let bastion = try await SSHServer()
      try await bastion.revokeIdentities()
      try home.write(await bastion.knownHosts, to: "known_bastion")
      try home.write(
        """
        Host bastion
          HostName 127.0.0.1
          Port \(bastion.port)
          UserKnownHostsFile \(home.file("known_bastion"))
          IdentityFile \(bastion.identityFile)
        Host web
          HostName 127.0.0.1
          Port \(server.port)
          UserKnownHostsFile \(home.file("known_hosts"))
          IdentityFile \(server.identityFile)
          ProxyJump bastion
        """, to: "config")
      let arguments = ["doctor", "--batch", "--json", "-F", home.file("config"), "web"]
      let refused = try await home.run(arguments)
      #expect(refused.code == 77)
      let last = try #require(try steps(refused).last)
      #expect(last.brief == "login failed" && last.target == "127.0.0.1:\(bastion.port)")
      try await bastion.authorizeIdentity()
      let healthy = try await home.run(arguments)
      #expect(healthy.code == 0, "\(healthy.error)")
      let targets = try steps(healthy).compactMap(\.target)
      #expect(targets.first == "127.0.0.1:\(bastion.port)")
      #expect(targets.last == "127.0.0.1:\(server.port)")
      let way = try steps(healthy).first { $0.step == "connect" && $0.target == targets.last }
      #expect(way?.message == "by 127.0.0.1:\(bastion.port)")
      await bastion.stop()
    }
  }

  @Test func aServerThatNeverSaysItsVersion() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let outcome = try await Home().run(
      ["doctor", "--batch", "--json", "--timeout", "10s", "127.0.0.1:\(peer.port)"])
    #expect(outcome.code == 124, "\(outcome.error)")
    let step = try #require(try steps(outcome).last)
    #expect(step.brief == "banner failed" && step.case == "sshTimeout" && step.phase == "banner")
    #expect(await peer.received.count == 1)
    await peer.stop()
  }

  @Test func aWebSocketHasItsUpgrade() async throws {
    let peer = try await ScriptedWebSocketPeer([.echo])
    let outcome = try await Home().run(
      ["doctor", "--json", "ws://127.0.0.1:\(peer.port)/chat"])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try steps(outcome).map(\.brief) == ["resolve ok", "connect ok", "upgrade ok"])
    await peer.stop()
  }

  @Test func aCertificateOfAnotherNameIsShown() async throws {
    let server = try TLSServer(name: "other.example")
    let home = try Home()
    let arguments = ["doctor", "--json", "--ca", server.certificate]
    let wrong = try await home.run(arguments + ["wss://127.0.0.1:\(server.port)/"])
    #expect(wrong.code == 79, "\(wrong.error)")
    let failed = try #require(try steps(wrong).last)
    #expect(failed.brief == "tls failed")
    #expect(failed.message?.contains("DNS:other.example") == true, "\(wrong.error)")
    server.stop()
  }

  @Test func behindTLSTheUpgradeMayFail() async throws {
    let server = try TLSServer(name: "127.0.0.1", kind: "IP")
    let outcome = try await Home().run(
      ["doctor", "--json", "--ca", server.certificate, "wss://127.0.0.1:\(server.port)/"])
    let steps = try steps(outcome)
    #expect(
      steps.map(\.brief) == ["resolve ok", "connect ok", "tls ok", "upgrade failed"],
      "\(outcome.error)")
    #expect(steps[2].message?.contains("IP Address:127.0.0.1") == true)
    #expect(steps[2].message?.hasPrefix("TLSv1") == true)
    server.stop()
  }

  @Test func onATerminalAnUnknownHostKeyAndAPassphraseAreAskedForOnce() async throws {
    try await withServer(isKnown: false) { server, home in
      let key = try await server.makeIdentity(
        .ed25519, name: "locked", passphrase: "open sesame", isAuthorized: true)
      let terminal = try Terminal()
      var screen = try home.start(
        [
          "doctor", "-p", "\(server.port)", "-i", key, "--known-hosts", home.file("known_hosts"),
          "127.0.0.1",
        ], on: terminal)
      try await screen.see("Trust it? [yes/NO/fingerprint] ")
      screen.type("yes\r")
      try await screen.see("not known, and is now")
      try await screen.see("\nPassphrase of the key")
      try await screen.see(": ")
      screen.type("open sesame\r")
      try await screen.see("accepted")
      #expect(await screen.end() == 0)
      #expect(!screen.transcript.contains("sesame"))
      #expect(screen.isRestored)
      #expect(!home.read("known_hosts").isEmpty)
    }
  }

  @Test func aLinkThatFallsSilentUnderTheCommandIsGivenUp() async throws {
    let remote = try Home()
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "echo >\(remote.file("runs")); sleep 600"
    try await withServer(configuration) { server, home in
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        options(server, home, port: proxy.port) + [
          "-o", "HostKeyAlias=[127.0.0.1]:\(server.port)", "--json", "127.0.0.1",
        ])
      try await eventually { !remote.read("runs").isEmpty }
      try await proxy.inject(.freeze())
      let outcome = try await running.outcome()
      await proxy.stop()
      #expect(outcome.code == 124, "\(outcome.error)")
      let step = try #require(try steps(outcome).last)
      #expect(step.brief == "command failed" && step.phase == "execute")
    }
  }

  /// The link is well, and is not blamed: a start-up file is, which ssh would wait for, too.
  @Test func aHostOnWhichNoCommandEndsIsNamedWithItsCause() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "sleep 600"
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(
        options(server, home) + ["--json", "127.0.0.1"])
      #expect(outcome.code == 0, "\(outcome.error)")
      let last = try steps(outcome).suffix(2)
      #expect(last.map(\.brief) == ["command warning", "bridgeHost warning"])
      #expect(last.first?.message?.hasSuffix("s, and the link answers") == true)
      #expect(last.first?.remedy?.contains("starts another shell") == true)
    }
  }

  /// It ends with the status of success, and nothing has run.
  @Test func aStartUpFileThatEndsTheShellIsNoCommandThatRan() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "exit 0"
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      let step = try #require(try steps(outcome).suffix(2).first)
      #expect(step.brief == "command warning")
      #expect(step.message == "it did not run: it ended with exit status 0")
      let last = try #require(try steps(outcome).last)
      #expect(last.message == "It would not run there, as no command does." && last.remedy == nil)
    }
  }

  /// With a line feed behind it, or none, as a window's title has.
  @Test(arguments: [("echo hello", "6 bytes"), ("printf hello", "5 bytes")])
  func whatIsPrintedBesideTheCommandIsCounted(_ line: String, _ count: String) async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "\(line); eval \"$SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      let step = try #require(try steps(outcome).suffix(2).first)
      #expect(step.brief == "command warning")
      #expect(step.message == "\(count) came with its output")
    }
  }

  @Test func aDeviceThatShowsTheCommandHasNotRunIt() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "echo \"> $SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      let step = try #require(try steps(outcome).suffix(2).first)
      let message = "it did not run: it ended with exit status 0: > echo bridgectl-doctor"
      #expect(step.message == message)
    }
  }

  /// A login that runs no command says why on its standard error: an expired password, nologin(8).
  @Test func whatALoginSaysThatRunsNothingIsQuoted() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand =
      "echo 'WARNING: Your password has expired.' >&2; head -c 4096 /dev/zero >&2; exit 1"
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      let step = try #require(try steps(outcome).suffix(2).first)
      let beginning =
        "it did not run: it ended with exit status 1: WARNING: Your password has expired."
      #expect(step.message?.hasPrefix(beginning) == true, "\(step)")
      #expect(step.message.map { $0.utf8.count < 400 } == true)
      #expect(step.remedy?.contains("its password expired") == true)
    }
  }

  @Test func aForcedCommandIsAWarning() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "echo no shell for you; exit 3"
    try await withServer(configuration) { server, home in
      let outcome = try await home.run(options(server, home) + ["--json", "127.0.0.1"])
      #expect(outcome.code == 0, "\(outcome.error)")
      let last = try steps(outcome).suffix(2)
      #expect(last.map(\.brief) == ["command warning", "bridgeHost warning"])
      let message = "it did not run: it ended with exit status 3: no shell for you"
      #expect(last.first?.message == message)
    }
  }

  /// It keeps a session for a moment, and nothing is left of that.
  @Test func aHostThatKeepsSessionsIsAsItWas() async throws {
    try await withSessions { server, home, folder in
      let outcome = try await home.run(["doctor"] + server.link(home) + ["--json", "127.0.0.1"])
      #expect(try steps(outcome).last?.brief == "bridgeHost ok", "\(outcome.error)")
      #expect(folder.ids.isEmpty && folder.keepers.isEmpty)
    }
  }

  /// Its bridge-host answers, and may write no file; a sanitizer writes one of its own.
  @Test(.enabled(if: !Child.isSanitized))
  func aHostThatCanKeepNoSessionIsAWarning() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let bin = "\(folder.path)/.local/lib/bridge/bin"
      let program = "\(bin)/bridge-host"
      try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
      let script = "#!/bin/sh\nulimit -f 0\nexec \(SessionFolder.program) \"$@\"\n"
      try Data(script.utf8).write(to: URL(filePath: program))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
      let outcome = try await home.run(["doctor"] + server.link(home) + ["--json", "127.0.0.1"])
      let step = try #require(try steps(outcome).last)
      #expect(step.brief == "bridgeHost warning", "\(outcome.error)")
      #expect(step.message?.contains("the session's directory") == true)
    }
  }

  @Test func aCommandIsRefused() async throws {
    let outcome = try await Home().run(["doctor", "h", "--", "true"])
    #expect(outcome.code == 64 && outcome.lastLine.contains("doctor runs no COMMAND"))
  }

  @Test func aSignalEndsItWithItsCode() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let running = try Home().start(["doctor", "--batch", "127.0.0.1:\(peer.port)"])
    _ = try await peer.first { $0.kind == .accepted }
    running.child.signal(SIGINT)
    #expect(try await running.outcome().code == 130)
    await peer.stop()
  }
}

/// `openssl s_server` as a web server, with a certificate that signs itself.
private final class TLSServer: Sendable {
  let port: Int
  private let folder: String
  private let process: Process

  /// The certificate, which is its own authority.
  var certificate: String { folder + "/s.crt" }

  init(name: String, kind: String = "DNS") throws {
    folder = NSTemporaryDirectory() + "/doctor-tls-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let maker = try Self.start(
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
        "s.key", "-out", "s.crt", "-days", "30", "-subj", "/CN=s", "-addext",
        "subjectAltName=\(kind):\(name)",
      ], in: folder, output: FileHandle.nullDevice)
    maker.waitUntilExit()
    let output = Pipe()
    process = try Self.start(
      ["s_server", "-accept", "127.0.0.1:0", "-cert", "s.crt", "-key", "s.key", "-www"], in: folder,
      output: output)
    // "ACCEPT 127.0.0.1:40123"
    var text = ""
    while true {
      if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }),
        text.hasSuffix("\n"), let port = Int(line.drop { $0 != ":" }.dropFirst())
      {
        self.port = port
        return
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw CocoaError(.executableLoad) }
      text += String(decoding: more, as: UTF8.self)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// It inherits that this process blocks SIGTERM.
  func stop() { kill(process.processIdentifier, SIGKILL) }

  private static func start(
    _ arguments: [String], in folder: String, output: Any
  ) throws -> Process {
    let command = Process()
    command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    command.arguments = ["openssl"] + arguments
    command.currentDirectoryURL = URL(fileURLWithPath: folder)
    command.standardInput = FileHandle.nullDevice
    command.standardOutput = output
    command.standardError = FileHandle.nullDevice
    try command.run()
    return command
  }
}
