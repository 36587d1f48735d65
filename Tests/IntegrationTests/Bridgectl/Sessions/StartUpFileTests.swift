import BridgeFaults
import Foundation
import Testing

/// Logins that print, echo, redirect, or run something else than the command that they were given:
/// that is started once there, or not at all, as with ssh. A forced command imitates them.
@Suite(.timeLimit(.minutes(5))) struct StartUpFileTests {
  private static let goesOn = #"eval "$SSH_ORIGINAL_COMMAND""#

  private func withLogin(
    _ login: String, installs: Bool = true, isKnown: Bool = true,
    _ body: (SSHServer, Home, SessionFolder) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "echo login >> \"$HOME/logins\"; \(login)"
    try await withServer(configuration) { server, home in
      let folder = SessionFolder(of: server)
      if installs { try folder.install() }
      if isKnown { try await home.knowsBridgeHost(on: server) }
      do {
        try await body(server, home, folder)
      } catch {
        await folder.killAll(home)
        throw error
      }
      await folder.killAll(home)
    }
  }

  /// Runs a command that appends a line to a file, and says whether that is in a durable session.
  private func run(
    _ server: SSHServer, _ home: Home, _ options: [String] = []
  ) async throws -> Outcome {
    let command =
      "echo run >> \(home.file("count")); echo \"session ${BRIDGE_SESSION:+yes}\"; exit 5"
    return try await home.run(
      ["connect", "--timeout", "5s"] + options + server.link(home) + ["127.0.0.1", "--", command])
  }

  private func logins(_ folder: SessionFolder) -> Int {
    let text = try? String(contentsOfFile: "\(folder.path)/logins", encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  private static let talkative = [
    "head -c 2500000 /dev/zero | tr '\\0' x; \(goesOn)",
    #"echo "audit: $SSH_ORIGINAL_COMMAND"; \#(goesOn)"#,
    #"echo "audit: $SSH_ORIGINAL_COMMAND" | tr -d "\"'"; \#(goesOn)"#,
    #"exec bash -x -c "$SSH_ORIGINAL_COMMAND" 2>&1"#,
    #"export SHELLOPTS; set -x; exec 2>&1; exec bash -c "$SSH_ORIGINAL_COMMAND""#,
  ]

  /// Whatever it does, once is enough to see that it is not bridge-host.
  @Test(arguments: ["uninstall", "sessions"])
  func aForcedCommandRunsOnceForAQuestion(_ verb: String) async throws {
    try await withLogin("echo hello; exit 3", installs: false, isKnown: false) {
      server, home, folder in
      let outcome = try await home.run([verb] + server.link(home) + ["127.0.0.1"])
      #expect(outcome.code == 78 && outcome.error.contains("hello"), "\(outcome.error)")
      #expect(!outcome.error.contains("bridgectl install"))
      #expect(logins(folder) == 1)
    }
  }

  @Test(arguments: talkative)
  func whatALoginPrintsStandsInNoOnesWay(login: String) async throws {
    try await withLogin(login) { server, home, folder in
      let durable = try await run(server, home)
      #expect(durable.code == 5, "\(durable.error)")
      #expect(durable.text.hasSuffix("session yes\n"), "\(durable.error)")
      #expect(home.read("count") == "run\n")
      #expect(try await home.run(["sessions"] + server.link(home) + ["127.0.0.1"]).code == 0)
    }
  }

  @Test(arguments: talkative)
  func withoutBridgeHostTheCommandRunsOnceAndPlainly(login: String) async throws {
    try await withLogin(login, installs: false) { server, home, folder in
      let plain = try await run(server, home)
      #expect(plain.code == 5, "\(plain.error)")
      #expect(plain.text.contains("session \n"), "\(plain.error)")
      #expect(home.read("count") == "run\n")
    }
  }

  /// The answer goes where no one reads it.
  @Test(arguments: ["/dev/null", "\"$HOME/log\""])
  func aLoginThatRedirectsItsOutputRunsTheCommandOnce(to place: String) async throws {
    try await withLogin("exec > \(place) 2>&1; \(Self.goesOn)") { server, home, folder in
      let outcome = try await run(server, home)
      #expect(outcome.code == 5, "\(outcome.error)")
      #expect(outcome.output.isEmpty)
      #expect(home.read("count") == "run\n")
      #expect(folder.ids.isEmpty)
    }
  }

  /// What is sent would be its script: nothing is.
  @Test(arguments: [#"exec cat >> "$HOME/read""#, #"tee -a "$HOME/read" | exec sh"#])
  func aLoginThatReadsStandardInputReadsNothing(login: String) async throws {
    try await withLogin(login) { server, home, folder in
      let outcome = try await run(server, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      let read = FileManager.default.contents(atPath: "\(folder.path)/read")
      #expect(read?.isEmpty != false)
      // What could start something; each verb takes the time of a silent login.
      let asked = try await home.run(
        ["run", "--detach"] + server.link(home) + ["--timeout", "2s", "127.0.0.1", "--", "true"])
      #expect(asked.code != 0)
      let after = FileManager.default.contents(atPath: "\(folder.path)/read")
      #expect(after?.isEmpty != false)
      #expect(home.read("count").isEmpty)
    }
  }

  /// A network device prints the command and ends: the user reads that, as with ssh.
  @Test(arguments: [0, 1]) func aDeviceThatEchoesTheCommandIsDoneWithout(status: Int) async throws {
    let device = #"printf 'invalid autocommand "%s"\n' "$SSH_ORIGINAL_COMMAND"; exit \#(status)"#
    try await withLogin(device, installs: false) { server, home, folder in
      let outcome = try await run(server, home)
      #expect(outcome.code == status, "\(outcome.error)")
      #expect(outcome.text.hasPrefix("invalid autocommand \"echo run"), "\(outcome.error)")
      // It is known now, where it is no failure of a moment, or has failed twice.
      for _ in 0..<2 { _ = try await run(server, home) }
      #expect(logins(folder) == (status == 0 ? 4 : 5))
      for verb in ["sessions", "install"] {
        let asked = try await home.run([verb] + server.link(home) + ["127.0.0.1"])
        #expect(asked.code == 78, "\(verb): \(asked.error)")
      }
      let copy = try await home.run(
        ["cp"] + server.link(home) + [server.identityFile, "127.0.0.1:copy"])
      #expect(copy.code != 0, "\(copy.error)")
    }
  }

  /// A program that is called by another one cannot know that it must not ask.
  @Test(arguments: [[], ["-T"], ["-n"]])
  func aForcedCommandRunsOnceWhereNoOneToldOfBridgeHost(options: [String]) async throws {
    try await withLogin("echo deployed", installs: false, isKnown: false) { server, home, folder in
      let outcome = try await run(server, home, options)
      #expect(outcome.code == 0 && outcome.text == "deployed\n", "\(outcome.error)")
      #expect(outcome.error.isEmpty)
      #expect(logins(folder) == 1)
    }
  }

  /// A name asks for a session: once, and the rest is the run itself.
  @Test(arguments: ["cat >/dev/null; echo deployed", "echo deployed"])
  func aForcedCommandIsAskedOnceForASessionOfAName(login: String) async throws {
    try await withLogin(login, installs: false, isKnown: false) { server, home, folder in
      for runs in [2, 4] {
        let outcome = try await run(server, home, ["--name", "job", "--timeout", "2s"])
        #expect(outcome.code == 0 && outcome.text == "deployed\n", "\(outcome.error)")
        #expect(outcome.error.contains("what runs now ends with its link"), "\(outcome.error)")
        #expect(logins(folder) == runs)
      }
      let required = try await run(
        server, home, ["--name", "job", "--timeout", "2s", "--durable=require"])
      #expect(required.code == 78 && required.text.isEmpty, "\(required.error)")
      #expect(logins(folder) == 5)
    }
  }

  /// What it prints comes behind the answer, or in its place: the command runs either way, and that
  /// is said.
  @Test(arguments: [("( sleep 1; echo bg ) &", 0), ("echo bg >&3", 74)] as [(String, Int32)])
  func aStartBesideAProgramInTheBackgroundIsNotSaidToHaveFailed(
    background: String, code: Int32
  ) async throws {
    // The second one prints as soon as the start was sent.
    let login =
      code == 0
      ? background + " " + Self.goesOn
      : "exec 3>&1; tee >(head -c1 >/dev/null; \(background); cat >/dev/null) | { \(Self.goesOn); }"
    try await withLogin(login) { server, home, folder in
      let outcome = try await home.run(
        ["run", "--detach"] + server.link(home) + ["127.0.0.1", "--", "exec sleep 600"])
      #expect(outcome.code == code, "\(outcome.error)")
      #expect(folder.keepers.count == 1)
      let id = try #require(folder.ids.first)
      #expect((outcome.text + outcome.error).contains(id), "\(outcome.error)")
      guard code != 0 else { return }
      let connected = try await home.run(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1", "--", "sleep 600"])
      #expect(connected.code == code, "\(connected.error)")
      #expect(folder.ids.contains { $0 != id && connected.error.contains($0) })
    }
  }

  /// By the key of the host and the user there: `install` says so, `uninstall` takes it back.
  @Test func whatIsInstalledIsRememberedAndUsedWithoutATerminal() async throws {
    try await withLogin(Self.goesOn, installs: false, isKnown: false) { server, home, folder in
      #expect(try await run(server, home).text == "session \n")
      #expect(logins(folder) == 1)
      let install = try await home.run(["install"] + server.link(home) + ["127.0.0.1"])
      #expect(install.code == 0, "\(install.error)")
      #expect(try await run(server, home).text == "session yes\n")
      let uninstall = try await home.run(["uninstall"] + server.link(home) + ["127.0.0.1"])
      #expect(uninstall.code == 0, "\(uninstall.error)")
      let before = logins(folder)
      #expect(try await run(server, home).text == "session \n")
      #expect(logins(folder) == before + 1)
    }
  }

  /// nologin(5), or a start-up file that ends the shell: the next run is durable again.
  @Test func whatEndsALoginForAMomentIsNotRemembered() async throws {
    let login = #"[ ! -e "$HOME/broken" ] || exit 3; \#(Self.goesOn)"#
    try await withLogin(login) { server, home, folder in
      let broken = "\(folder.path)/broken"
      #expect(try await run(server, home).text == "session yes\n")
      try Data().write(to: URL(filePath: broken))
      let outcome = try await run(server, home)
      #expect(outcome.code == 3 && outcome.error.contains("ends with its link"), "\(outcome.error)")
      try FileManager.default.removeItem(atPath: broken)
      #expect(try await run(server, home).text == "session yes\n")
    }
  }

  /// The account was moved, for instance: links that end are no outage for ever, also where the
  /// host had bridge-host before.
  @Test func aHostThatEndsEachConnectionIsLeftWithItsWords() async throws {
    let end = #"[ ! -e "$HOME/moved" ] || { echo We have moved.; sleep 0.1; kill -9 $PPID; }"#
    try await withLogin("\(end); \(Self.goesOn)") { server, home, folder in
      #expect(try await run(server, home).text == "session yes\n")
      try Data().write(to: URL(filePath: "\(folder.path)/moved"))
      let reason = "connections ended when it was asked for bridge-host; it printed: We have moved."
      // It was asked to start the command before it had answered.
      let first = try await run(server, home)
      #expect(first.code == 74 && first.error.contains("6 \(reason)"), "\(first.error)")
      // The next run asks it less often.
      let second = try await run(server, home)
      let once =
        "it ended the connection when it was asked for bridge-host; it printed: We have moved."
      #expect(second.code == 74 && second.error.contains(once), "\(second.error)")
    }
  }

  /// As for backups and deploys: what a key with a command of its own answers says nothing of the
  /// account, and that command runs once, also where the account is known to have bridge-host.
  @Test func aKeyWithAForcedCommandIsAnotherEntrance() async throws {
    try await withSessions { server, home, folder in
      let key = try await server.makeIdentity(.ed25519, name: "backup", isAuthorized: false)
      let keys = URL(filePath: key).deletingLastPathComponent().appending(path: "authorized_keys")
      let forced = "command=\"echo run >> \(home.file("backups")); echo backup; exit 6\" "
      let line = try forced + String(contentsOfFile: "\(key).pub", encoding: .utf8)
      try (String(contentsOf: keys, encoding: .utf8) + line)
        .write(to: keys, atomically: true, encoding: .utf8)
      let backup = server.link(home).map { $0 == server.identityFile ? key : $0 }
      for runs in 1...2 {
        let outcome = try await home.run(["connect"] + backup + ["127.0.0.1", "--", "true"])
        #expect(outcome.code == 6 && outcome.text == "backup\n", "\(outcome.error)")
        #expect(home.read("backups").split(separator: "\n").count == runs)
        #expect(try await run(server, home).text == "session yes\n")
      }
      // Asked for a session, it says that there is none: of this key.
      let named = try await home.run(
        ["connect", "--name", "x"] + backup + ["127.0.0.1", "--", "true"])
      #expect(named.code == 6, "\(named.error)")
      #expect(try await run(server, home).text == "session yes\n")
    }
  }

  /// Removed by another client: the command runs once all the same, and that is known then.
  @Test func aWrongMemoryCostsARequestAndNoSecondRun() async throws {
    try await withLogin(Self.goesOn, installs: false) { server, home, folder in
      for (runs, count) in [(1, 2), (2, 3)] {
        let outcome = try await run(server, home)
        #expect(outcome.code == 5 && outcome.text == "session \n", "\(outcome.error)")
        #expect(home.read("count").split(separator: "\n").count == runs)
        #expect(logins(folder) == count)
      }
    }
  }
}
