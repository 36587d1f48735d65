import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl connect -L` and `-D`.
@Suite(.timeLimit(.minutes(5))) struct ForwardTests {
  /// A port of loopback without a listener.
  private func freePort() async throws -> Int {
    let proxy = try await FaultProxy(to: 9)
    await proxy.stop()
    return proxy.port
  }

  @Test func aForwardedPortOutlivesTheLink() async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + [
          "-N", "--json", "-L", "\(port):127.0.0.1:\(server.port)", "127.0.0.1",
        ], on: terminal)
      try await screen.see(#""event":"forward","rule":"\#(port):127.0.0.1:\#(server.port)""#)
      try await screen.see(#""event":"recovered""#)
      #expect(await banner(at: port).hasPrefix("SSH-2.0-OpenSSH"))
      try await screen.see(#""event":"forwardClosed","id":1"#)
      await server.killSessions()
      // At once: it waits for the link.
      #expect(await banner(at: port).hasPrefix("SSH-2.0-OpenSSH"))
      screen.signal(SIGINT)
      #expect(await screen.end() == 130)
    }
  }

  /// The retry budget's pause is longer than a connection waits.
  @Test(arguments: ["-L", "-D"])
  func aForwardedPortIsServedHoweverOftenTheLinkIsReset(_ kind: String) async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        server.options(home, port: proxy.port) + [
          "-N", "--json", "--host-key", "accept-new",
          kind, kind == "-L" ? "\(port):127.0.0.1:\(server.port)" : "\(port)", "127.0.0.1",
        ])
      let curl = [
        "-s", "-m", "10", "--http0.9", "--socks5-hostname", "127.0.0.1:\(port)",
        "http://127.0.0.1:\(server.port)/",
      ]
      let events = "err-\(running.name)"
      try await eventually { home.read(events).contains(#""event":"recovered""#) }
      for outage in 1...14 {
        let text =
          kind == "-L"
          ? await banner(at: port) : try await home.run(curl, program: "/usr/bin/curl").text
        let isServed = text.hasPrefix("SSH-2.0-OpenSSH")
        #expect(isServed, "after outage \(outage - 1)")
        guard isServed else { break }
        try await proxy.inject(.reset)
        try await eventually {
          home.read(events).ranges(of: #""event":"failed""#).count >= outage
        }
      }
      running.child.signal(SIGINT)
      #expect(try await running.outcome().code == 130)
      await proxy.stop()
    }
  }

  /// More clients than there are descriptors for: some are left for the link's next dial.
  @Test func aLinkComesBackBesideMoreClientsThanThereAreDescriptors() async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let proxy = try await FaultProxy(to: server.port)
      let running = try home.start(
        server.options(home, port: proxy.port) + [
          "-N", "--json", "--host-key", "accept-new", "-D", "\(port)", "127.0.0.1",
        ], through: "ulimit -n 64; exec \"$0\" \"$@\"")
      let events = "err-\(running.name)"
      try await eventually { home.read(events).contains(#""event":"recovered""#) }
      let clients = try home.start(
        ["-c", "for i in {1..100}; do exec {f}<>/dev/tcp/127.0.0.1/\(port); done; sleep 1000"],
        program: "/bin/bash")
      // They wait for a request, which none sends, for longer than this takes.
      try await eventually {
        let names = try FileManager.default.contentsOfDirectory(
          atPath: "/proc/\(running.child.pid)/fd")
        return names.count >= 48
      }
      try await proxy.inject(.reset)
      try await eventually {
        home.read(events).ranges(of: #""event":"recovered""#).count == 2
      }
      #expect(!home.read(events).contains("file descriptors"))
      for child in [clients.child, running.child] { child.signal(SIGINT) }
      #expect(try await running.outcome().code == 130)
      clients.child.signal(SIGKILL)
      _ = try await clients.outcome()
      await proxy.stop()
    }
  }

  @Test func theConfigurationsForwardsAreOpenedBesideACommand() async throws {
    try await withServer { server, home in
      let (local, dynamic) = (try await freePort(), try await freePort())
      try home.write(
        """
        Host *
          LocalForward \(local) 127.0.0.1:\(server.port)
          DynamicForward 127.0.0.1:\(dynamic)
        """, to: "config")
      let script =
        "exec 3<>/dev/tcp/127.0.0.1/\(local); head -c 7 <&3; "
        + "curl -s -m 10 --socks5-hostname 127.0.0.1:\(dynamic) --http0.9 "
        + "http://127.0.0.1:\(server.port)/ | head -c 7"
      let outcome = try await home.run(
        server.options(home) + ["-F", home.file("config"), "127.0.0.1", "--", script])
      #expect(outcome.text == "SSH-2.0SSH-2.0", "\(outcome.error)")
    }
  }

  /// As with ssh; here the one that waits for more, of a server that answers and ends it.
  @Test(arguments: ["--durable=never", "--durable=auto"])
  func aForwardedConnectionOutlivesTheCommand(durable: String) async throws {
    try await withSessions { server, home, _ in
      let port = try await freePort()
      let terminal = try Terminal()
      let (opened, goesOn) = (home.file("opened"), home.file("goes-on"))
      var screen = try home.start(
        server.options(home) + [
          durable, "-L", "\(port):127.0.0.1:\(server.port)", "127.0.0.1", "--",
          "until [ -e \(opened) ]; do sleep 0.1; done; exit 3",
        ], on: terminal)
      let script = """
        until exec 3<>/dev/tcp/127.0.0.1/\(port); do sleep 0.1; done 2>/dev/null
        head -c 7 <&3; echo >\(opened)
        until [ -e \(goesOn) ]; do sleep 0.1; done
        echo x >&3; cat <&3
        """
      let client = Task { try await home.run(["-c", script], program: "/bin/bash") }
      try await screen.see("waiting for the end of 1 forwarded connection; Ctrl-C ends them.")
      try home.write("", to: "goes-on")
      #expect(try await client.value.text.contains("Invalid SSH identification string"))
      #expect(await screen.end() == 3)
    }
  }

  /// With `~.` the status stays that of the shell.
  @Test(arguments: ["~.", "SIGINT"])
  func theUserEndsWhatIsForwardedAfterTheShell(how: String) async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let terminal = try Terminal()
      let opened = home.file("opened")
      var screen = try home.start(
        server.options(home) + [
          "--durable=never", "-L", "\(port):127.0.0.1:\(server.port)", "127.0.0.1",
        ], on: terminal)
      screen.type("PS1=; stty -echo; until [ -e \(opened) ]; do sleep 0.1; done; exit 3\r")
      let script = """
        until exec 3<>/dev/tcp/127.0.0.1/\(port); do sleep 0.1; done 2>/dev/null
        head -c 7 <&3; echo >\(opened); cat <&3
        """
      let client = Task { try await home.run(["-c", script], program: "/bin/bash") }
      try await screen.see("waiting for the end of 1 forwarded connection; Ctrl-C ends them.")
      if how == "~." { screen.type("\r~.\r") } else { screen.signal(SIGINT) }
      #expect(await screen.end() == (how == "~." ? 3 : 130))
      #expect(screen.isRestored)
      _ = try await client.value
    }
  }

  @Test func aPortInUseEndsTheRunOnlyWhereThatIsAskedFor() async throws {
    try await withServer { server, home in
      let forward = ["-L", "127.0.0.1:\(server.port):127.0.0.1:1", "127.0.0.1", "echo", "ran"]
      let warned = try await home.run(server.options(home) + forward)
      #expect(warned.code == 0)
      #expect(warned.text == "ran\n")
      #expect(warned.error.contains("is not forwarded"))
      let ended = try await home.run(
        server.options(home) + ["-o", "ExitOnForwardFailure=yes"] + forward)
      #expect(ended.code == 75)
      #expect(ended.text.isEmpty)
      #expect(ended.lastLine.contains("Something listens there already"), "\(ended.error)")
      #expect(ended.error.contains("choose another port or path for it"), "\(ended.error)")
      #expect(!ended.error.contains("connect to"), "\(ended.error)")
    }
  }

  @Test func aPortOfTheHostIsAskedForAgainAfterTheLinkWasLost() async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + [
          "-N", "--json", "-R", "\(port):127.0.0.1:\(server.port)", "127.0.0.1",
        ], on: terminal)
      let event =
        #""event":"forward","rule":"\#(port):127.0.0.1:\#(server.port)","side":"remote","#
        + #""port":\#(port)"#
      for _ in 0..<2 {
        try await screen.see(event)
        #expect(await banner(at: port).hasPrefix("SSH-2.0-OpenSSH"))
        await server.killSessions()
      }
      try await screen.see(event)
      screen.signal(SIGINT)
      #expect(await screen.end() == 130)
    }
  }

  /// As with ssh, which asks for it before it starts the command.
  @Test(arguments: ["no", "yes"])
  func aCommandFindsThePortOfTheHost(exitsOnFailure: String) async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.latency(.milliseconds(50)))
      let outcome = try await home.run(
        server.options(home, port: proxy.port) + [
          "--durable=never", "--host-key", "accept-new",
          "-o", "ExitOnForwardFailure=\(exitsOnFailure)",
          "-R", "\(port):127.0.0.1:\(server.port)", "127.0.0.1", "--",
          "bash -c 'exec 3<>/dev/tcp/127.0.0.1/\(port); head -c 7 <&3'",
        ])
      #expect(outcome.text == "SSH-2.0", "\(outcome.error)")
      await proxy.stop()
    }
  }

  /// As with ssh, which drops the second one.
  @Test func aPortOfTheHostThatIsNamedTwiceIsAskedForOnce() async throws {
    try await withServer { server, home in
      let rule = ["-R", "0:127.0.0.1:9"]
      let outcome = try await home.run(
        server.options(home) + rule + rule + [
          "-o", "ExitOnForwardFailure=yes", "--json", "127.0.0.1", "--", "true",
        ])
      #expect(outcome.code == 0)
      #expect(outcome.error.ranges(of: #""event":"forward","rule":"#).count == 1)
    }
  }

  /// Who has its status would believe that nothing runs.
  @Test(arguments: [SIGHUP, SIGINT, SIGTERM, SIGKILL])
  func aSignalToTheProcessInTheForegroundEndsTheRun(signal: Int32) async throws {
    let silent = try await ScriptedTCPPeer(.silent)
    let home = try Home()
    let running = try home.start(
      ["connect", "-p", "\(silent.port)", "-f", "-N", "--exit-status-file", home.file("end")]
        + ["127.0.0.1"])
    _ = try await silent.first { $0.kind == .accepted }
    running.child.signal(signal)
    let code = try await running.outcome().code
    #expect(code == (signal == SIGKILL ? 1000 : 128) + signal)
    try await eventually { !home.read("end").isEmpty }
    let own = 128 + (signal == SIGKILL ? SIGTERM : signal)
    #expect(home.read("end").contains("\"exit\":\(own)"), "\(home.read("end"))")
    await silent.stop()
  }

  @Test func aPortOfTheHostThatItChoseIsPrinted() async throws {
    try await withServer { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + ["-N", "-R", "0:127.0.0.1:\(server.port)", "127.0.0.1"], on: terminal
      )
      try await screen.see("the host takes connections on port ")
      try await screen.see(" for -R 0:127.0.0.1:\(server.port)")
      screen.signal(SIGINT)
      #expect(await screen.end() == 130)
    }
  }

  @Test func aPortOfTheHostThatIsTakenEndsTheRunOnlyWhereThatIsAskedFor() async throws {
    try await withServer { server, home in
      try home.write(
        """
        Host *
          RemoteForward 127.0.0.1:\(server.port) 127.0.0.1:1
        """, to: "config")
      let options = server.options(home) + ["-F", home.file("config")]
      let terminal = try Terminal()
      var screen = try home.start(options + ["-N", "127.0.0.1"], on: terminal)
      try await screen.see(
        "-R 127.0.0.1:\(server.port):127.0.0.1:1 is not forwarded; it is tried again")
      screen.signal(SIGINT)
      #expect(await screen.end() == 130)
      let ended = try await home.run(
        options + ["-o", "ExitOnForwardFailure=yes", "-N", "127.0.0.1"])
      #expect(ended.code == 75)
      #expect(ended.lastLine.contains("-R 127.0.0.1:\(server.port):127.0.0.1:1"), "\(ended.error)")
    }
  }

  @Test func aRunInTheBackgroundLetsItsParentGoWhenThePortsAreOpen() async throws {
    try await withServer { server, home in
      let (local, remote) = (try await freePort(), try await freePort())
      let outcome = try await home.run(
        server.options(home) + [
          "-f", "-N", "--no-reconnect", "--exit-status-file", home.file("end"),
          "-o", "ExitOnForwardFailure=yes", "-L", "\(local):127.0.0.1:\(server.port)",
          "-R", "\(remote):127.0.0.1:\(server.port)", "127.0.0.1",
        ])
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(await banner(at: remote).hasPrefix("SSH-2.0-OpenSSH"))
      #expect(await banner(at: local).hasPrefix("SSH-2.0-OpenSSH"))
      #expect(home.read("end").isEmpty)
      await server.killSessions()
      try await eventually { !home.read("end").isEmpty }
      #expect(home.read("end").contains(#""exit":69,"case":"#), "\(home.read("end"))")
    }
  }

  /// SIGTERM is how a service ends, SIGHUP how ssh ends its ProxyCommand.
  @Test(arguments: [SIGTERM, SIGHUP])
  func aTunnelThatIsEndedFromOutsideSaysNothing(_ signal: Int32) async throws {
    try await withServer { server, home in
      let local = try await freePort()
      let running = try home.start(
        server.options(home) + ["-N", "-L", "\(local):127.0.0.1:\(server.port)", "127.0.0.1"])
      try await eventually { await banner(at: local).hasPrefix("SSH-2.0-OpenSSH") }
      running.child.signal(signal)
      let outcome = try await running.outcome()
      #expect(outcome.code == 128 + signal)
      #expect(outcome.error == "bridgectl: connected; Ctrl-C disconnects.\n")
    }
  }

  /// By which pgrep, killall and top find it.
  @Test func aRunInTheBackgroundHasTheNameOfItsProgram() async throws {
    try await withServer { server, home in
      let option = "BRIDGE_TEST=\(UUID().uuidString)"
      let outcome = try await home.run(
        server.options(home) + [
          "-f", "-N", "--no-reconnect", "-o", "SetEnv=\(option)", "127.0.0.1",
        ])
      #expect(outcome.code == 0, "\(outcome.error)")
      let names = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { id in
        try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8).contains(option)
          ? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8) : nil
      }
      #expect(names == ["bridgectl\n"])
      await server.killSessions()
    }
  }

  /// Who started it waits for the end of its output.
  @Test func aRunInTheBackgroundThatIsIdleLeavesThePipesOfItsParent() async throws {
    try await withServer { server, home in
      let arguments = server.options(home) + ["-f", "-N", "--no-reconnect", "127.0.0.1"]
      let shell = ["-c", #""$0" "$@" 2>&1 | cat"#, Child.program]
      let outcome = try await home.run(shell + arguments, program: "/bin/sh")
      #expect(outcome.code == 0, "\(outcome.error)")
      await server.killSessions()
    }
  }

  @Test func aRunInTheBackgroundMayPromptBeforeItLeavesTheTerminal() async throws {
    try await withServer(isKnown: false) { server, home in
      let terminal = try Terminal()
      var screen = try home.start(
        server.options(home) + [
          "-f", "--no-reconnect", "--exit-status-file", home.file("end"), "127.0.0.1",
          "echo ra''n; exit 3",
        ], on: terminal)
      try await screen.see("yes")
      screen.type("yes\r")
      #expect(await screen.end() == 0)
      try await eventually { !home.read("end").isEmpty }
      #expect(home.read("end").contains(#""exit":3,"remote":3"#), "\(home.read("end"))")
    }
  }

  @Test func theParentOfARunInTheBackgroundSaysWhyItFailed() async throws {
    try await withServer { server, home in
      let taken = try await home.run(
        server.options(home) + [
          "-f", "-N", "-o", "ExitOnForwardFailure=yes", "-R", "127.0.0.1:\(server.port):h:1",
          "127.0.0.1",
        ])
      #expect(taken.code == 75)
      #expect(taken.lastLine.contains("-R 127.0.0.1:\(server.port):h:1"), "\(taken.error)")
      await server.kill()
      let unreachable = try await home.run(server.options(home) + ["-f", "-N", "127.0.0.1"])
      #expect(unreachable.code == 69)
      let usage = try await home.run(server.options(home) + ["-f", "127.0.0.1"])
      #expect(usage.code == 64)
    }
  }

  @Test func localPortsWithoutAnAddressAreOpenedOnEveryOneWhereThatIsAskedFor() async throws {
    try await withServer { server, home in
      let port = try await freePort()
      let script = "exec 3<>/dev/tcp/127.0.0.2/\(port); head -c 7 <&3"
      let forward = ["-L", "\(port):127.0.0.1:\(server.port)", "127.0.0.1", "--", script]
      let closed = try await home.run(server.options(home) + forward)
      #expect(closed.text.isEmpty)
      let open = try await home.run(server.options(home) + ["-g"] + forward)
      #expect(open.text == "SSH-2.0", "\(open.error)")
    }
  }

  @Test(arguments: [["-L", "x"], ["-D", "1:2:3"], ["-L", "1:h:0"], ["-R", "1:h"]])
  func aRuleOfAnotherFormIsAUsageError(_ arguments: [String]) async throws {
    let outcome = try await Home().run(["connect"] + arguments + ["h"])
    #expect(outcome.code == 64)
    #expect(outcome.lastLine.contains(arguments[0]), "\(outcome.error)")
  }
}

/// The first bytes that a server at `port` of loopback sends.
func banner(at port: Int) async -> String {
  await withCheckedContinuation { caller in
    Thread.detachNewThread {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
      process.arguments = [
        "-c",
        """
        import socket
        s=socket.create_connection(("127.0.0.1",\(port)))
        try: print(s.recv(20).decode())
        except ConnectionResetError: print("reset")
        """,
      ]
      let output = Pipe()
      process.standardOutput = output
      process.standardInput = FileHandle.nullDevice
      try? process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      caller.resume(returning: String(decoding: data, as: UTF8.self))
    }
  }
}
