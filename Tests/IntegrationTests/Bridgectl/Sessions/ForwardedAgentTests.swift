import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `-A` and ForwardAgent: the agent of the client for what runs in a durable session.
@Suite(.timeLimit(.minutes(5))) struct ForwardedAgentTests {
  /// Runs `body` with an agent that holds the key of the server's user, on a host that is known to
  /// have bridge-host.
  private func withForward(
    _ configuration: SSHServerConfiguration = .init(),
    _ body: (SSHServer, Home, _ environment: [String: String]) async throws -> Void
  ) async throws {
    try await withSessions(configuration) { server, home, _ in
      let environment = ["SSH_AUTH_SOCK": home.file("agent")]
      let agent = try home.start(
        ["-D", "-a", home.file("agent")], program: "/usr/bin/ssh-agent")
      // Its first words come when it listens.
      try await eventually { home.read("out-\(agent.name)").contains("SSH_AUTH_SOCK") }
      let added = try await home.run(
        [server.identityFile], environment: environment, program: "/usr/bin/ssh-add")
      #expect(added.code == 0, "\(added.error)")
      do {
        try await body(server, home, environment)
      } catch {
        agent.child.signal(SIGTERM)
        throw error
      }
      agent.child.signal(SIGTERM)
    }
  }

  /// As soon as it runs: the socket is there before.
  @Test func aCommandFindsTheKeysAtOnce() async throws {
    try await withForward { server, home, environment in
      for options in [["-A"], ["-o", "ForwardAgent=yes"], ["-A", "--name", "job"]] {
        let outcome = try await home.run(
          ["connect"] + options + server.link(home) + ["127.0.0.1", "--", "ssh-add -l | wc -l"],
          environment: environment)
        #expect(outcome.text == "1\n" && outcome.code == 0, "\(options): \(outcome.error)")
        #expect(outcome.error.isEmpty)
      }
    }
  }

  @Test(arguments: [[], ["-a", "-o", "ForwardAgent=yes"], ["-o", "ForwardAgent=$UNSET"]])
  func withoutAWishThereIsNone(_ options: [String]) async throws {
    try await withForward { server, home, environment in
      let outcome = try await home.run(
        ["connect"] + options + server.link(home)
          + ["127.0.0.1", "--", "echo ${SSH_AUTH_SOCK-none}"],
        environment: environment)
      #expect(outcome.text == "none\n" && outcome.error.isEmpty, "\(outcome.error)")
    }
  }

  /// It signs for a login from there, and nothing there changes it.
  @Test func itSignsAndIsNotChanged() async throws {
    try await withForward { server, home, environment in
      let hop =
        "ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "
        + "-p \(server.port) \(server.user)@127.0.0.1 echo there"
      let outcome = try await home.run(
        ["connect", "-A"] + server.link(home) + [
          "127.0.0.1", "--",
          "\(hop); ssh-add -D >&2; ssh-add \(server.identityFile) >&2; ssh-add -l | wc -l",
        ], environment: environment)
      #expect(outcome.text == "there\n1\n", "\(outcome.error)")
    }
  }

  /// The agent is that of the client that writes.
  @Test func itGoesAndComesWithItsClient() async throws {
    try await withForward { server, home, environment in
      let keys = "ssh-add -l >/dev/null 2>&1; echo keys=$?\r"
      func attach(_ arguments: [String], _ words: String) async throws {
        var screen = try home.start(
          arguments + server.link(home) + ["127.0.0.1"], on: Terminal(), environment: environment)
        screen.type("PS1=; stty -echo; echo rea''dy\r")
        try await screen.see("ready\r\n")
        screen.type(keys)
        try await screen.see(words)
        screen.type("\r~d")
        #expect(await screen.end() == 0)
      }
      try await attach(["connect", "-A"], "keys=0")
      try await attach(["attach"], "keys=2")
      try await attach(["attach", "-A"], "keys=0")
    }
  }

  @Test func itComesBackWithTheLink() async throws {
    try await withForward { server, home, environment in
      let proxy = try await FaultProxy(to: server.port)
      let go = home.file("go")
      let running = try home.start(
        ["connect", "-A"] + server.link(home, port: proxy.port) + [
          "127.0.0.1", "--",
          """
          echo $(ssh-add -l | wc -l); until [ -e \(go) ]; do sleep 0.02; done
          until ssh-add -l >/dev/null 2>&1; do sleep 0.02; done; echo again
          """,
        ], environment: environment)
      try await running.prints("1\n")
      try await proxy.inject(.reset)
      try await running.reports("The link is back")
      try home.write("", to: "go")
      let outcome = try await running.outcome()
      #expect(outcome.text == "1\nagain\n" && outcome.code == 0, "\(outcome.error)")
      await proxy.stop()
    }
  }

  /// Dropbear ends a connection that opens one beside another that is closed.
  @Test func overEachLinkItHasOneChannel() async throws {
    try await withForward { server, home, environment in
      let program = "\(SessionFolder(of: server).path)/.local/lib/bridge/bin/bridge-host"
      let script = """
        #!/bin/sh
        [ "$1" = agent ] && echo channel >> \(home.file("channels"))
        exec \(SessionFolder.program) "$@"
        """
      try FileManager.default.removeItem(atPath: program)
      try script.write(toFile: program, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        ["connect", "-A"] + server.link(home, port: proxy.port) + [
          "127.0.0.1", "--",
          """
          for i in 1 2 3; do until [ -e \(home.file("go"))$i ]; do sleep 0.02; done
          until ssh-add -l >/dev/null 2>&1; do sleep 0.02; done; echo keys $i; done
          """,
        ], environment: environment)
      for link in 1...3 {
        let channels = { home.read("channels").split(separator: "\n").count }
        try await eventually { channels() >= link }
        try home.write("", to: "go\(link)")
        try await running.prints((1...link).map { "keys \($0)\n" }.joined())
        #expect(channels() == link)
        guard link < 3 else { break }
        // Long enough for the channel of the lost link to be opened again over the next.
        try await proxy.inject(.refuse())
        try await proxy.inject(.reset)
        let failures = {
          home.read("err-\(running.name)").components(separatedBy: "Retrying").count
        }
        try await eventually { failures() > link }
        try await proxy.inject(.lift)
      }
      #expect(try await running.outcome().code == 0)
      await proxy.stop()
    }
  }

  /// The one channel is the session's.
  @Test(arguments: [[], ["--name", "job"]])
  func aServerWithOneChannelKeepsItForTheSession(_ options: [String]) async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxSessions = 1
    try await withForward(configuration) { server, home, environment in
      let outcome = try await home.run(
        ["connect", "-A"] + options + server.link(home)
          + ["127.0.0.1", "--", "ssh-add -l 2>/dev/null; echo $?"],
        environment: environment)
      #expect(outcome.text == "2\n" && outcome.code == 0, "\(outcome.error)")
      #expect(
        outcome.error.contains("do not reach the ssh-agent here: the server opens no channel"))
    }
  }

  @Test func aPlainRunSaysThatItHasNone() async throws {
    try await withForward { server, home, environment in
      let outcome = try await home.run(
        ["connect", "-A", "--durable=never"] + server.link(home)
          + ["127.0.0.1", "--", "echo ${SSH_AUTH_SOCK-none}"],
        environment: environment)
      #expect(outcome.text == "none\n" && outcome.code == 0)
      #expect(outcome.error.contains("the ssh-agent is not forwarded"), "\(outcome.error)")
    }
  }

  /// With the agent gone ssh fails there as with an agent without keys.
  @Test func anAgentThatIsGoneIsAnsweredFor() async throws {
    try await withForward { server, home, _ in
      let outcome = try await home.run(
        ["connect", "-A"] + server.link(home) + ["127.0.0.1", "--", "ssh-add -l 2>&1; echo $?"],
        environment: ["SSH_AUTH_SOCK": home.file("none")])
      #expect(outcome.text.hasSuffix("1\n") && outcome.code == 0, "\(outcome.text)")
    }
  }
}
