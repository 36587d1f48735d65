import BridgeFaults
import Foundation
import Testing

/// `bridgectl connect` to a host behind others.
@Suite(.timeLimit(.minutes(5))) struct JumpTests {
  /// Runs `body` with three servers, each known by a name of its own in a configuration file of
  /// the home: `first`, `second` and `third`, the last behind the other two.
  private func withChain(
    _ body: (_ servers: [SSHServer], _ home: Home, _ options: [String]) async throws -> Void
  ) async throws {
    try await withServer { third, home in
      let servers = [try await SSHServer(), try await SSHServer(), third]
      var config = ""
      for (server, name) in zip(servers, ["first", "second", "third"]) {
        try home.write(await server.knownHosts, to: "known_\(name)")
        config += """
          Host \(name)
            HostName 127.0.0.1
            Port \(server.port)
            IdentityFile \(server.identityFile)
            UserKnownHostsFile \(home.file("known_\(name)"))

          """
      }
      try home.write(config + "Host third\n  ProxyJump first,second\n", to: "config")
      do {
        try await body(servers, home, ["connect", "-F", home.file("config")])
      } catch {
        for server in servers { await server.stop() }
        throw error
      }
      for server in servers { await server.stop() }
    }
  }

  private func events(_ text: String) -> [[String: Any]] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
    }
  }

  @Test func aCommandRunsAtTheEndOfTheConfiguredWay() async throws {
    try await withChain { servers, home, options in
      let outcome = try await home.run(
        options + ["third", "--", "cat; echo $SSH_CONNECTION; exit 4"], input: Array("in\n".utf8))
      #expect(outcome.code == 4, "\(outcome.error)")
      #expect(outcome.text.hasPrefix("in\n"))
      #expect(outcome.text.hasSuffix("\(servers[2].port)\n"))
      #expect(outcome.error.isEmpty)
    }
  }

  @Test func aHopOfTheCommandLineIsUsed() async throws {
    try await withChain { servers, home, options in
      let outcome = try await home.run(options + ["-J", "first", "second", "echo", "here"])
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.text == "here\n")
      #expect(await servers[1].log.contains("Accepted publickey"))
      #expect(await servers[0].log.contains("Accepted publickey"))
    }
  }

  @Test func aDeadHopIsOneErrorAtThatHop() async throws {
    try await withChain { servers, home, options in
      await servers[1].kill()
      let outcome = try await home.run(options + ["--json", "third", "true"])
      #expect(outcome.code == 69)
      let events = events(outcome.error)
      let errors = events.filter { $0["event"] as? String == "error" }
      #expect(errors.map { $0["port"] as? Int } == [servers[1].port])
      #expect(errors.first?["kind"] as? String == "targetRefused")
      #expect((errors.first?["message"] as? String)?.contains(":\(servers[0].port) says") == true)
      let failed = events.filter { $0["event"] as? String == "failed" }
      #expect(failed.count == 1, "\(failed)")
    }
  }

  /// Its error names a host, and not which of several.
  @Test func aPersonReadsWhichHopIsSilent() async throws {
    try await withChain { servers, home, options in
      await servers[1].freeze()
      let outcome = try await home.run(options + ["--timeout", "2s", "third", "true"])
      await servers[1].thaw()
      #expect(outcome.code == 124, "\(outcome.error)")
      let first = servers[1].port
      #expect(
        outcome.error.contains(
          "jump host 2 of 2 on the way to third failed: second (127.0.0.1:\(first))."),
        "\(outcome.error)")
    }
  }

  @Test func anUnknownKeyOfAHopEndsTheRunBeforeItsLogin() async throws {
    try await withChain { servers, home, options in
      try home.write("", to: "known_second")
      let outcome = try await home.run(
        options + ["--host-key", "strict", "--json", "third", "true"])
      #expect(outcome.code == 79)
      let error = events(outcome.error).first { $0["event"] as? String == "error" }
      #expect(error?["kind"] as? String == "hostKeyUnknown")
      #expect(error?["port"] as? Int == servers[1].port)
      #expect(await !servers[1].log.contains("Accepted"))
    }
  }

  @Test func aHopThatIsLostIsOneFailureAndAllComesBack() async throws {
    try await withChain { servers, home, options in
      let terminal = try Terminal()
      var screen = try home.start(options + ["-N", "--json", "third"], on: terminal)
      let target = "ssh:127.0.0.1:\(servers[2].port)#1"
      try await screen.see(#""event":"recovered","source":"\#(target)""#)
      await servers[0].killSessions()
      try await screen.see(#""event":"recovered","source":"\#(target)""#)
      screen.signal(SIGINT)
      #expect(await screen.end() == 130)
      let events = events(screen.transcript)
      let first = "ssh:127.0.0.1:\(servers[0].port)#jump1"
      let failed = events.filter { $0["event"] as? String == "failed" }
      #expect(failed.contains { $0["source"] as? String == first })
      // What goes through it fails at that hop, if it is noticed before the hop's own end.
      #expect(failed.allSatisfy { $0["port"] as? Int == servers[0].port }, "\(failed)")
      #expect(
        events.contains {
          $0["event"] as? String == "suspended" && $0["source"] as? String == target
        })
    }
  }

  /// The first way to the host is the only one, as with ssh; with `--wait` it is made again.
  @Test(arguments: [false, true])
  func aHopThatIsLostBeforeTheHostWasReachedEndsTheRun(waits: Bool) async throws {
    try await withChain { servers, home, options in
      let terminal = try Terminal()
      await servers[1].freeze()
      var screen = try home.start(
        options + (waits ? ["--wait"] : []) + ["-N", "--json", "third"], on: terminal)
      let first = "ssh:127.0.0.1:\(servers[0].port)#jump1"
      try await screen.see(#""event":"recovered","source":"\#(first)""#)
      await servers[0].killSessions()
      if waits {
        try await screen.see(#""event":"recovered","source":"\#(first)""#)
        screen.signal(SIGINT)
        #expect(await screen.end() == 130)
      } else {
        #expect(await screen.end() == 69)
        let error = events(screen.transcript).first { $0["event"] as? String == "error" }
        #expect((error?["message"] as? String)?.hasPrefix("first: ") == true, "\(error ?? [:])")
      }
      await servers[1].thaw()
    }
  }

  /// What hangs on a silent hop is silent as well: that one is named, and left, and not the host.
  @Test func aHopThatIsSilentIsLeftAndNamed() async throws {
    try await withChain { servers, home, options in
      let terminal = try Terminal()
      var screen = try home.start(
        options + ["-N", "--json", "--keepalive", "500ms", "third"], on: terminal)
      let target = "ssh:127.0.0.1:\(servers[2].port)#1"
      let hop = "ssh:127.0.0.1:\(servers[1].port)#jump2"
      try await screen.see(#""event":"recovered","source":"\#(target)""#)
      await servers[1].freeze()
      try await screen.see(#""event":"failed","source":"\#(hop)""#)
      try await screen.see(#""event":"failed","source":"\#(hop)""#)
      await servers[1].thaw()
      try await screen.see(#""event":"recovered","source":"\#(target)""#)
      screen.signal(SIGINT)
      #expect(await screen.end() == 130)
      let dials = events(screen.transcript).filter {
        $0["event"] as? String == "failed" && $0["phase"] as? String != "stream"
      }
      #expect(dials.allSatisfy { $0["source"] as? String == hop }, "\(dials)")
    }
  }

  /// Two accounts of one machine: the address alone does not say which was refused.
  @Test func theUserThatIsRefusedIsNamed() async throws {
    try await withChain { _, home, options in
      let hop = try await home.run(options + ["-J", "no-one@second", "second", "true"])
      #expect(hop.error.contains("jump host on the way to second failed: second"))
      #expect(hop.error.contains("does not accept no-one with this key"))
      let target = try await home.run(options + ["-J", "second", "no-one@second", "true"])
      #expect(!target.error.contains("jump host"))
      #expect(target.error.contains("does not accept no-one with this key"))
      #expect(hop.code == target.code)
    }
  }

  @Test func aWayInACircleIsRefusedBeforeTheDial() async throws {
    try await withChain { servers, home, options in
      try home.write(home.read("config") + "Host *\n  ProxyJump first\n", to: "config")
      let outcome = try await home.run(options + ["second", "true"])
      #expect(outcome.code == 78)
      #expect(outcome.lastLine.contains("is circular"))
      #expect(await !servers[0].log.contains("Connection from"))
    }
  }

  @Test func aProxyCommandOfOurOwnLeadsToAHost() async throws {
    try await withChain { servers, home, options in
      let config = home.file("config")
      let own = "\(Child.program) connect -F \(config) -W %h:%p first"
      let outcome = try await home.run(
        options + ["-o", "ProxyCommand=\(own)", "second", "--", "cat; exit 6"],
        input: Array("through\n".utf8))
      #expect(outcome.code == 6, "\(outcome.error)")
      #expect(outcome.text == "through\n")
      #expect(await servers[0].log.contains("Accepted publickey"))
    }
  }

  @Test func whatAProxyCommandWritesIsShownEscaped() async throws {
    try await withChain { _, home, options in
      let outcome = try await home.run(
        options + ["-o", #"ProxyCommand=printf 'no\033[2Jway\n' >&2; exit 3"#, "second", "true"])
      #expect(outcome.code == 69)
      #expect(!outcome.error.utf8.contains(0x1B))
      #expect(outcome.error.contains("way"))
      #expect(outcome.lastLine.contains("[sshConnectionFailed]"))
    }
  }

  @Test func standardInputAndOutputAreCarriedToATarget() async throws {
    try await withChain { servers, home, options in
      let outcome = try await home.run(
        options + ["-W", "127.0.0.1:\(servers[1].port)", "first"], input: Array("nonsense\r\n".utf8)
      )
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.text.hasPrefix("SSH-2.0-OpenSSH"))
      #expect(outcome.error.isEmpty)
    }
  }

  @Test func aTargetThatRefusesIsNamed() async throws {
    try await withChain { servers, home, options in
      await servers[1].kill()
      let outcome = try await home.run(
        options + ["-W", "127.0.0.1:\(servers[1].port)", "first"])
      #expect(outcome.code == 69)
      #expect(outcome.lastLine.contains("127.0.0.1:\(servers[1].port): Connection refused"))
    }
  }

  @Test func aPortIsForwardedThroughTheWholeWay() async throws {
    try await withChain { servers, home, options in
      let proxy = try await FaultProxy(to: servers[0].port)
      let port = proxy.port
      await proxy.stop()
      let outcome = try await home.run(
        options + [
          "-L", "\(port):127.0.0.1:\(servers[0].port)", "third", "--",
          "exec 3<>/dev/tcp/127.0.0.1/\(port); head -c 7 <&3",
        ])
      #expect(outcome.text == "SSH-2.0", "\(outcome.error)")
      #expect(outcome.code == 0)
      // The session of the forward went the same way, beside that of the command.
      let logins = await servers[2].log.matches(of: /Accepted publickey/).count
      #expect(logins == 2)
      #expect(await servers[0].log.matches(of: /Accepted publickey/).count == 1)
    }
  }
}
