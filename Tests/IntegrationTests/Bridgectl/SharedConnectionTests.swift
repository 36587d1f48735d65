import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// Runs of `ssh` over the connection of another: ControlMaster, ControlPath and ControlPersist.
@Suite("Shared connections", .timeLimit(.minutes(5))) struct SharedConnectionTests {
  /// Who shares its connection, and who uses it.
  enum Pair: String, CaseIterable {
    case ourOwn
    case ourWithTheirClient
    case theirsWithOurClient

    func master(_ home: Home) -> String {
      self == .theirsWithOurClient ? "/usr/bin/ssh" : home.file("bin/ssh")
    }

    func client(_ home: Home) -> String {
      self == .ourWithTheirClient ? "/usr/bin/ssh" : home.file("bin/ssh")
    }
  }

  /// What identifies a connection: its ports.
  private static let which = "echo $SSH_CONNECTION"

  @Test(arguments: Pair.allCases)
  func aRunIsOverTheConnectionOfAnother(_ pair: Pair) async throws {
    try await withSharing { _, home, options in
      let (theirs, ours) = (pair.master(home), pair.client(home))
      let master = try await home.run(options + ["-MNf", "box"], program: theirs)
      #expect((master.code, master.error) == (0, ""))
      var connections: Set<String> = []
      for code in [0, 7, 255] {
        let run = try await home.run(
          options + ["box", Self.which + "; exit \(code)"], program: ours)
        #expect((run.code, run.error) == (Int32(code), ""))
        connections.insert(run.text)
      }
      #expect(connections.count == 1)
      let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
      let copy = try await home.run(
        options + ["box", "cat; echo over >&2"], input: bytes, program: ours)
      #expect(copy.output == bytes && copy.error == "over\n")
      // OpenSSH's does not say of a signal that it was the end.
      let killed = try await home.run(options + ["box", "kill -9 $$"], program: ours)
      #expect(killed.code == 255 && (killed.error.isEmpty || pair == .theirsWithOurClient))
      let proof = try await home.run(options + ["-O", "check", "box"], program: ours)
      #expect(proof.error.hasPrefix("Master running (pid="))
      let end = try await home.run(options + ["-O", "exit", "box"], program: ours)
      #expect((end.code, end.error) == (0, "Exit request sent.\r\n"))
      try await eventually { !home.hasSocket }
    }
  }

  @Test func theFirstMakesOneInTheBackground() async throws {
    try await withSharing { _, home, options in
      let options = options + ["-o", "ControlMaster=auto"]
      let always = options + ["-o", "ControlPersist=yes", "box"]
      let first = try await home.ssh(always + [Self.which + "; exit 3"])
      #expect((first.code, first.error) == (3, ""))
      let second = try await home.ssh(always + [Self.which])
      #expect(second.text == first.text)
      #expect(try await home.ssh(options + ["-O", "exit", "box"]).code == 0)
      try await eventually { !home.hasSocket }
      // It goes when there was no session for so long.
      let third = try await home.ssh(options + ["-o", "ControlPersist=1", "box", Self.which])
      #expect(third.code == 0 && third.text != first.text)
      try await eventually { !home.hasSocket }
    }
  }

  @Test func severalAtOnceEachHaveTheirStatus() async throws {
    try await withSharing { _, home, options in
      let options = options + ["-o", "ControlMaster=auto", "-o", "ControlPersist=yes"]
      let running = try (1...6).map { code in
        try home.start(options + ["box", "exit \(code)"], program: home.file("bin/ssh"))
      }
      for (index, run) in running.enumerated() {
        let outcome = try await run.outcome()
        #expect((outcome.code, outcome.error) == (Int32(index + 1), ""))
      }
      #expect(try await home.ssh(options + ["-O", "exit", "box"]).code == 0)
    }
  }

  /// A run with a session of its own waits for those of others, as ssh does.
  @Test func theRunThatSharesWaitsForTheOthers() async throws {
    try await withSharing { _, home, options in
      let own = try home.start(
        options + ["-M", "box", "until [ -e \(home.file("up")) ]; do sleep 0.05; done; echo own"],
        program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      let rest = "until [ -e \(home.file("go")) ]; do sleep 0.05; done; echo other"
      let other = try home.start(
        options + ["box", "touch \(home.file("up")); " + rest], program: home.file("bin/ssh"))
      try await eventually { home.read("out-" + own.name) == "own\n" }
      try home.write("", to: "go")
      let outcome = try await other.outcome()
      #expect((outcome.code, outcome.text) == (0, "other\n"), "\(outcome.error)")
      #expect(try await own.outcome().code == 0)
    }
  }

  /// A command that may have run is not run over another connection.
  @Test(arguments: Pair.allCases.dropLast())
  func aCommandThatIsLostRunsOnce(_ pair: Pair) async throws {
    try await withSharing { server, home, options in
      #expect(try await home.ssh(options + ["-MNf", "box"]).code == 0)
      let run = try home.start(
        options + ["box", "echo ran >> \(home.file("ran")); sleep 60"],
        program: pair.client(home))
      try await eventually { home.read("ran") == "ran\n" }
      await server.killSessions()
      let outcome = try await run.outcome()
      #expect(outcome.code == 255)
      if pair == .ourOwn { #expect(outcome.error.contains("how it ended is not known")) }
      #expect(home.read("ran") == "ran\n")
      try await eventually { !home.hasSocket }
    }
  }

  /// Likewise where the answer to its start is lost: by then it may run.
  @Test func aCommandWhoseStartIsLostIsNotStartedAgain() async throws {
    try await withSharing { _, home, options in
      let script = #"""
        import asyncio, asyncssh, sys, time
        class Session(asyncssh.SSHServerSession):
            def exec_requested(self, command):
                open(sys.argv[1], "a").write("ran\n")
                time.sleep(1000)
        class Server(asyncssh.SSHServer):
            def begin_auth(self, user): return False
            def session_requested(self): return Session()
        async def main():
            key = asyncssh.generate_private_key("ssh-ed25519")
            listener = await asyncssh.create_server(Server, "127.0.0.1", 0, server_host_keys=[key])
            print(listener.sockets[0].getsockname()[1], flush=True)
            await asyncio.sleep(1000)
        asyncio.run(main())
        """#
      let server = try home.start(
        ["-c", script, home.file("ran")], program: "/usr/bin/python3")
      try await eventually { home.read("out-" + server.name).hasSuffix("\n") }
      let port = home.read("out-" + server.name).trimmingCharacters(in: .newlines)
      let options =
        options + ["-p", port, "-oStrictHostKeyChecking=no", "-oUserKnownHostsFile=/dev/null"]
      let master = try home.start(options + ["-MN", "box"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      let run = try home.start(options + ["box", "true"], program: home.file("bin/ssh"))
      try await eventually { home.read("ran") == "ran\n" }
      server.child.signal(SIGKILL)
      let outcome = try await run.outcome()
      #expect(outcome.code == 255)
      #expect(outcome.error.contains("how it ended is not known"), "\(outcome.error)")
      _ = try await master.outcome()
    }
  }

  /// One that is stopped, and one whose host is: the run has a connection of its own.
  @Test(arguments: [true, false])
  func aConnectionThatDoesNotAnswerIsNotWaitedFor(_ stopsRun: Bool) async throws {
    try await withSharing { server, home, options in
      let proxy = try await FaultProxy(to: server.port)
      let alias = "-oHostKeyAlias=[127.0.0.1]:\(server.port)"
      let master = try home.start(
        options + ["-MN", alias, "-p", "\(proxy.port)", "box"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      let shared = try await home.ssh(options + ["box", Self.which])
      if stopsRun {
        master.child.signal(SIGSTOP)
      } else {
        // What it said a second ago is no sign of life any more.
        try await ContinuousClock().sleep(for: .milliseconds(1100))
        try await proxy.inject(.freeze())
      }
      let own = try await home.ssh(options + ["box", Self.which + "; exit 4"])
      #expect(own.code == 4 && own.text != shared.text, "\(own.error)")
      guard stopsRun else {
        // Nothing else was over it: the next run makes one that is of use.
        let end = try await master.outcome()
        #expect(end.code == 0, "\(end.error)")
        return
      }
      master.child.signal(SIGCONT)
      master.child.signal(SIGTERM)
    }
  }

  @Test func aTerminalIsAsOverAConnectionOfItsOwn() async throws {
    try await withSharing { _, home, options in
      #expect(try await home.ssh(options + ["-MNf", "box"]).code == 0)
      let terminal = try Terminal()
      let child = try Child(
        options + ["box"], program: home.file("bin/ssh"), environment: home.environment,
        streams: .terminal(terminal.path), onEnd: terminal.hangUp)
      var screen = Screen(terminal, child)
      screen.type("PS1=; stty -echo; echo rea''dy\r")
      try await screen.see("ready\r\n")
      terminal.resize(columns: 91, rows: 31)
      screen.type("until stty size | grep '31 91'; do sleep 0.1; done\r")
      try await screen.see("31 91\r\n")
      screen.type("sh -c 'echo up; sleep 60'\r")
      try await screen.see("up\r\n")
      screen.type("\u{3}echo af''ter\r")
      try await screen.see("after\r\n")
      // The modes of a program that is gone with its session are taken back.
      screen.type("printf '\\033[?1049h\\033[?2004h'; echo se''t\r")
      try await screen.see("set\r\n")
      screen.type("\r~?")
      try await screen.see("~. ends the session")
      screen.type("\r~.")
      #expect(await screen.end() == 255)
      #expect(screen.isRestored)
      #expect(screen.transcript.contains("\u{1B}[?1049l"))
      #expect(screen.transcript.contains("Shared connection to 127.0.0.1 closed."))
    }
  }

  @Test func forwardsAreAddedAndEnded() async throws {
    try await withSharing { server, home, options in
      #expect(try await home.ssh(options + ["-MNf", "box"]).code == 0)
      let port = try await FaultProxy(to: 9)
      await port.stop()
      for kind in ["-L", "-R"] {
        let rule = [kind, "\(port.port):127.0.0.1:\(server.port)", "box"]
        let added = try await home.ssh(options + ["-O", "forward"] + rule)
        #expect((added.code, added.error) == (0, ""))
        #expect(await banner(at: port.port).hasPrefix("SSH-2.0-OpenSSH"), "\(kind)")
        let ended = try await home.ssh(options + ["-O", "cancel"] + rule)
        #expect((ended.code, ended.error) == (0, ""))
        try await eventually { await banner(at: port.port).isEmpty }
        let again = try await home.ssh(options + ["-O", "cancel"] + rule)
        #expect(again.code == 255 && again.error.contains("no such forward"))
      }
      let any = try await home.ssh(
        options + ["-O", "forward", "-R", "0:127.0.0.1:\(server.port)", "box"])
      let chosen = try #require(Int(any.text.trimmingCharacters(in: .newlines)))
      #expect(await banner(at: chosen).hasPrefix("SSH-2.0-OpenSSH"))
    }
  }

  /// As with ssh: what a configuration forwards is there for each run, and said by none.
  @Test func aForwardThatIsThereIsNotAskedForTwice() async throws {
    try await withSharing { server, home, options in
      let (local, remote) = (try await FaultProxy(to: 9), try await FaultProxy(to: 9))
      await local.stop()
      await remote.stop()
      let target = "127.0.0.1:\(server.port)"
      let options =
        options + [
          "-oControlMaster=auto", "-oControlPersist=yes", "-oExitOnForwardFailure=yes",
          "-oLocalForward=\(local.port) \(target)", "-oRemoteForward=\(remote.port) \(target)",
        ]
      var connections: Set<String> = []
      for code in 1...3 {
        let run = try await home.ssh(options + ["box", Self.which + "; exit \(code)"])
        #expect((run.code, run.error) == (Int32(code), ""))
        connections.insert(run.text)
      }
      #expect(connections.count == 1)
      for port in [local.port, remote.port] {
        #expect(await banner(at: port).hasPrefix("SSH-2.0-OpenSSH"))
      }
      #expect(try await home.ssh(options + ["-O", "exit", "box"]).code == 0)
    }
  }

  /// The time without a session begins when nothing is carried any more.
  @Test func aForwardedConnectionIsNotCutByTheTimeWithoutASession() async throws {
    try await withSharing { server, home, options in
      let port = try await FaultProxy(to: 9)
      await port.stop()
      let run = try await home.ssh(
        options + [
          "-oControlMaster=auto", "-oControlPersist=1",
          "-L\(port.port):127.0.0.1:\(server.port)", "box", "exit 3",
        ])
      #expect((run.code, run.error) == (3, ""))
      let script = """
        import socket, sys, time
        peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        peer.recv(100); time.sleep(2.5); peer.send(b"SSH-2.0-x\\r\\n")
        print(len(peer.recv(100)) > 0)
        """
      let carried = try await home.run(
        ["-c", script, "\(port.port)"], program: "/usr/bin/python3")
      #expect(carried.text == "True\n", "\(carried.error)")
      try await eventually { !home.hasSocket }
    }
  }

  /// A client that came before, and asks after: it has a connection of its own then.
  @Test func whoComesTooLateIsRefused() async throws {
    try await withSharing { _, home, options in
      let master = try home.start(options + ["-MN", "box"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      let script = #"""
        import array, os, socket, struct, subprocess, sys
        def packet(body): return struct.pack(">I", len(body)) + body
        def read(peer):
            size = struct.unpack(">I", peer.recv(4, socket.MSG_WAITALL))[0]
            return peer.recv(size, socket.MSG_WAITALL)
        peer = socket.socket(socket.AF_UNIX); peer.connect(sys.argv[1])
        peer.send(packet(struct.pack(">II", 1, 4))); read(peer)
        subprocess.run(sys.argv[2:], stderr=subprocess.DEVNULL)
        peer.send(packet(struct.pack(">II", 0x10000002, 7) + struct.pack(">I", 0)
            + struct.pack(">IIIII", 0, 0, 0, 0, 0xFFFFFFFF) + struct.pack(">I", 0)
            + struct.pack(">I", 4) + b"true"))
        for _ in range(3):
            peer.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
        print(hex(struct.unpack(">I", read(peer)[:4])[0]))
        """#
      let late = try await home.run(
        ["-c", script, home.file("ctl"), home.file("bin/ssh")] + options + ["-O", "stop", "box"],
        program: "/usr/bin/python3")
      #expect(late.text == "0x80000003\n", "\(late.error)")
      #expect(try await master.outcome().code == 0)
    }
  }

  /// `-W`, by which ssh goes through a host of ProxyJump.
  @Test(arguments: Pair.allCases) func aTargetIsCarriedToOverIt(_ pair: Pair) async throws {
    try await withSharing { server, home, options in
      let master = try await home.run(
        options + ["-MNf", "box"], program: pair.master(home))
      #expect(master.code == 0)
      let target = "127.0.0.1:\(server.port)"
      let proxy = ([pair.client(home)] + options + ["-W", target, "box"]).joined(separator: " ")
      let through = ["-F", home.file(".ssh/config"), "-S", "none", "-oProxyCommand=\(proxy)"]
      let run = try await home.run(through + ["box", "exit 6"], program: "/usr/bin/ssh")
      #expect(run.code == 6, "\(run.error)")
      let none = try await home.run(
        options + ["-W", "127.0.0.1:1", "box"], program: pair.client(home))
      #expect(none.code == 255)
      _ = try await home.run(options + ["-O", "exit", "box"], program: pair.client(home))
    }
  }

  /// With its output, though the process that logs in goes to the background.
  @Test func aLocalCommandHasTheStandardStreams() async throws {
    try await withSharing { _, home, options in
      let words =
        options + [
          "-oControlMaster=auto", "-oControlPersist=yes", "-oPermitLocalCommand=yes",
          "-oLocalCommand=echo local", "box", "echo remote",
        ]
      let run = try await home.run(
        words, through: "\"$0\" \"$@\" | cat", program: home.file("bin/ssh"))
      #expect(run.text == "local\nremote\n", "\(run.error)")
      #expect(try await home.ssh(options + ["-O", "exit", "box"]).code == 0)
    }
  }

  @Test func oneThatStopsGoesOnWithWhatItHas() async throws {
    try await withSharing { _, home, options in
      let master = try home.start(options + ["-MN", "box"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      let run = try home.start(
        options + [
          "box", "echo up; until [ -e \(home.file("go")) ]; do sleep 0.05; done; exit 6",
        ], program: home.file("bin/ssh"))
      try await eventually { home.read("out-" + run.name) == "up\n" }
      let proof = options + ["-O", "check", "box"]
      #expect(try await home.ssh(proof).code == 0)
      let stop = try await home.ssh(options + ["-O", "stop", "box"])
      #expect((stop.code, stop.error) == (0, "Stop listening request sent.\r\n"))
      let gone = try await home.ssh(proof)
      #expect(gone.code == 255)
      #expect(gone.error.hasPrefix("Control socket connect("), "\(gone.error)")
      try home.write("", to: "go")
      #expect(try await run.outcome().code == 6)
      #expect(try await master.outcome().code == 0)
    }
  }

  /// Its own command has not ended, so that its status is none of success.
  @Test func oneThatIsEndedWithASessionOfItsOwnHasNoSuccess() async throws {
    try await withSharing { _, home, options in
      let run = try home.start(options + ["-M", "box", "sleep 60"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      #expect(try await home.ssh(options + ["-O", "exit", "box"]).code == 0)
      #expect(try await run.outcome().code == 255)
    }
  }

  /// What cannot be shared is said, and the run goes on alone.
  @Test func aPlaceThatCannotBeHadLeavesTheRunAlone() async throws {
    try await withSharing { _, home, _ in
      try home.write("a file\n", to: "file")
      let long = home.file(String(repeating: "a", count: 120))
      for (path, words) in [
        (home.file("none/ctl"), "No such file or directory"), (long, "File name too long"),
        (home.file("file"), "already exists"),
      ] {
        let run = try await home.ssh(
          ["-S", path, "-o", "ControlMaster=auto", "box", "echo here; exit 2"])
        #expect((run.code, run.text) == (2, "here\n"))
        #expect(run.error.contains(words), "\(run.error)")
        let proof = try await home.ssh(["-S", path, "-O", "check", "box"])
        #expect(proof.code == 255 && proof.error.hasPrefix("Control socket connect("))
      }
      #expect(home.read("file") == "a file\n")
      let without = try await home.ssh(["-O", "check", "box"])
      #expect(
        (without.code, without.error) == (255, "No ControlPath specified for \"-O\" command\n"))
      let wrong = try await home.ssh(["-O", "what", "box"])
      #expect((wrong.code, wrong.error) == (255, "Invalid multiplex command.\n"))
    }
  }

  /// What was left by a run that was killed is replaced.
  @Test func anAbandonedSocketIsReplaced() async throws {
    try await withSharing { _, home, options in
      let master = try home.start(options + ["-MN", "box"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      master.child.signal(SIGKILL)
      _ = try await master.outcome()
      #expect(home.hasSocket)
      let run = try await home.ssh(
        options + ["-o", "ControlMaster=auto", "-o", "ControlPersist=yes", "box", "exit 5"])
      #expect((run.code, run.error) == (5, ""))
      #expect(try await home.ssh(options + ["-O", "check", "box"]).code == 0)
      #expect(try await home.ssh(options + ["-O", "exit", "box"]).code == 0)
    }
  }

  /// Every packet cut short, descriptors missing, and bytes that are none: nothing of it stays.
  @Test func whatAClientSendsInPartLeavesNothing() async throws {
    try await withSharing { _, home, options in
      let master = try home.start(options + ["-MN", "box"], program: home.file("bin/ssh"))
      try await eventually { home.hasSocket }
      let script = #"""
        import array, os, random, socket, struct, sys
        def text(value): return struct.pack(">I", len(value)) + value
        def packet(body): return text(body)
        hello = packet(struct.pack(">II", 1, 4))
        session = packet(struct.pack(">II", 0x10000002, 7) + text(b"")
            + struct.pack(">IIIII", 0, 0, 0, 0, 0xFFFFFFFF) + text(b"") + text(b"sleep 100"))
        fds = f"/proc/{sys.argv[2]}/fd"
        def use(*parts):
            peer = socket.socket(socket.AF_UNIX); peer.connect(sys.argv[1])
            for part in parts:
                try: peer.sendmsg([part[0]], part[1])
                except OSError: break
            peer.close()
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
        before = len(os.listdir(fds))
        for cut in range(len(session)): use((hello, []), (session[:cut], []))
        for count in range(3):
            use((hello, []), (session, []), *[(b"\0", passed)] * count)
            use((hello, []), (session, []), *[(b"\0", [])] * (count + 1))
        for seed in range(200):
            random.seed(seed); bytes = bytearray(session)
            bytes[random.randrange(len(bytes))] ^= 1 << random.randrange(8)
            use((hello, []), (bytes, []), *[(b"\0", passed)] * 3)
        use((struct.pack(">I", 1 << 30), []))
        for _ in range(600):
            left = len(os.listdir(fds)) - before
            if left <= 0: break
            os.system("sleep 0.1")
        print(max(left, 0))
        """#
      let junk = try await home.run(
        ["-c", script, home.file("ctl"), "\(master.child.pid)"], program: "/usr/bin/python3")
      #expect(junk.text == "0\n", "\(junk.error)")
      #expect(try await home.ssh(options + ["box", "exit 9"]).code == 9)
      master.child.signal(SIGTERM)
    }
  }
}

extension Home {
  fileprivate var hasSocket: Bool { FileManager.default.fileExists(atPath: file("ctl")) }
}

/// With a server, and the options of a run whose connection is shared in the home.
private func withSharing(
  _ body: (SSHServer, Home, [String]) async throws -> Void
) async throws {
  try await withSSH { server, home in
    try await body(
      server, home, ["-F", home.file(".ssh/config"), "-o", "ControlPath=\(home.file("ctl"))"])
  }
}
