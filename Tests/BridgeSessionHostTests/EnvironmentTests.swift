import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// What of a client's login reaches the program of a session.
@Suite struct EnvironmentTests {
  private static let reader =
    "while read word; do echo $word $(readlink $SSH_AUTH_SOCK || echo none); done"

  private func ask(_ client: AttachedClient) throws -> String? {
    let word = "\(Machine.entropy())"
    try client.type("\(word)\n")
    try client.pump { $0.text.contains(word) && $0.text.hasSuffix("\n") }
    return client.text.split(separator: "\n").last.map { String($0.dropFirst(word.count + 1)) }
  }

  @Test func theAgentIsThatOfTheWriterAndGoesWithIt() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.reader)
    bench.environment["SSH_AUTH_SOCK"] = "/tmp/agent of start"
    _ = try bench.start(spec)
    bench.environment["SSH_AUTH_SOCK"] = nil
    let first = try bench.attach(spec.session)
    #expect(try ask(first) == "none", "an attach without an agent has none")
    first.cut()
    bench.environment["SSH_AUTH_SOCK"] = "/tmp/agent.1"
    let second = try bench.attach(spec.session)
    #expect(try ask(second) == "/tmp/agent.1")
    // A viewer's agent is not forwarded to the program.
    bench.environment["SSH_AUTH_SOCK"] = "/tmp/agent.2"
    let other = ClientID(high: 1, low: 2)
    let viewer = try bench.attach(spec.session, client: other) { $0.role = .viewer }
    try viewer.greet()
    #expect(try ask(second) == "/tmp/agent.1")
    let taker = try bench.attach(spec.session, client: ClientID(high: 3, low: 4)) {
      $0.takes = true
    }
    #expect(try ask(taker) == "/tmp/agent.2")
    taker.cut()
    let link = bench.place(of: spec.session) + "/agent"
    try waitUntil { (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == nil }
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.place(of: spec.session))
    #expect(!names.contains { $0.hasPrefix("agent") })
  }

  /// The name of a socket has at most 107 bytes, and a home directory may be deep.
  @Test func inADeepPlaceTheAgentHasAShortName() throws {
    let bench = try SessionBench()
    let deep = bench.folder.appending(path: String(repeating: "d", count: 90))
    try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
    bench.environment["XDG_STATE_HOME"] = deep.path
    bench.environment["SSH_AUTH_SOCK"] = "/tmp/agent of start"
    let spec = bench.spec(
      "while read line; do echo \"$SSH_AUTH_SOCK\" $(readlink -m \"$SSH_AUTH_SOCK\"); done")
    _ = try bench.start(spec)
    for number in 1...2 {
      let agent = "/tmp/agent.\(number)"
      bench.environment["SSH_AUTH_SOCK"] = agent
      let client = try bench.attach(spec.session)
      try client.greet()
      try client.type("\n")
      try client.pump { $0.text.hasSuffix(" \(agent)\n") }
      let words = client.text.split(whereSeparator: \.isWhitespace).suffix(2)
      #expect(words.first == "/tmp/bridge-agent-\(spec.session)/agent")
      #expect(words.last == agent[...])
      guard number < 2 else { break }
      client.cut()
    }
    _ = try bench.run(["kill", "--session", "\(spec.session)"])
    try waitUntil {
      !FileManager.default.fileExists(atPath: "/tmp/bridge-agent-\(spec.session)")
    }
  }

  @Test func theEnvironmentFileHasWhatTheWriterSaidLastAndNothingAShellWouldRun() throws {
    let bench = try SessionBench()
    let spec = bench.spec(
      "while read -r word; do . $BRIDGE_SESSION_ENV; "
        + "printf '%s\\n' \"$word $DISPLAY $QUOTED\"; done; "
        + "echo $BRIDGE_SESSION")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session) {
      $0.environment = [
        "DISPLAY=:7", "QUOTED=a'b $(touch bad) \"c\"\\", "BAD;touch bad=1", "=x", "9A=x", "PLAIN",
      ].map { Array($0.utf8) }
    }
    #expect(try ask(client) == ":7 a'b $(touch bad) \"c\"\\")
    let again = try bench.attach(spec.session) { $0.environment = [Array("DISPLAY=:8".utf8)] }
    #expect(try ask(again) == ":8 a'b $(touch bad) \"c\"\\")
    #expect(!FileManager.default.fileExists(atPath: bench.file("bad")))
    #expect(try again.machine.endInput())
    #expect(try again.close() == 0)
    #expect(again.text.hasSuffix("\(spec.session)\n"))
  }

  @Test func aLineThatATerminalCutsIsReportedOnce() throws {
    let bench = try SessionBench()
    let spec = bench.spec("stty -echo; echo ready; read line; read end; exit 3") {
      $0.terminal = Array("dumb".utf8)
    }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "ready\r\n" }
    try client.type(String(repeating: "x", count: 4095))
    try client.pump { $0.machine.inputTaken == 4095 }
    #expect(client.notices.isEmpty)
    try client.type(String(repeating: "y", count: 5000))
    try client.pump { !$0.notices.isEmpty }
    try client.type("\nend\n")
    #expect(try client.close() == 0)
    #expect(client.notices.map(\.code) == [.lineTruncated])
    #expect(client.end == .exited(status: 3))
  }

  @Test func longInputForAProgramThatReadsBytesIsNotReported() throws {
    let bench = try SessionBench()
    let spec = bench.spec("stty raw -echo; echo ready; head -c 20000 >copy; exit 3") {
      $0.terminal = Array("dumb".utf8)
    }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text.hasPrefix("ready") }
    try client.type(String(repeating: "x", count: 20_000))
    #expect(try client.close() == 0)
    #expect(client.notices.isEmpty && bench.text("copy").count == 20_000)
  }

  @Test func aDisplacedWriterLearnsAfterTheEndWhatOfItsInputArrived() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read a; read b; exit 3")
    _ = try bench.start(spec)
    let first = try bench.attach(spec.session)
    try first.greet()
    try first.type("one\n")
    try first.pump { $0.machine.inputTaken == 4 }
    let taker = try bench.attach(spec.session, client: ClientID(high: 3, low: 4)) {
      $0.takes = true
    }
    try taker.greet()
    try taker.type("two\n")
    try taker.pump { $0.end != nil }
    taker.cut()
    try bench.waitForEnd(spec.session)
    // An ended session is served from its files.
    try first.connect()
    try first.greet()
    #expect(first.welcome?.ownAccepted == 4)
  }

  /// Start-up files begin an agent of their own where there is none.
  @Test func aProgramHasTheNameOfAnAgentOnlyWhereItsLoginHadOne() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo ${SSH_AUTH_SOCK-none}")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.text == "none\n")
  }

  /// As a home directory of another owner may be.
  @Test func aHomeDirectoryNeedNotBeReadable() throws {
    let bench = try SessionBench()
    let home = bench.folder.appending(path: "home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o311], ofItemAtPath: home.path)
    bench.environment["HOME"] = home.path
    let spec = bench.spec("pwd")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.text == home.path + "\n")
  }

  // MARK: Logout

  private static let canUnshare =
    SmallDisk.canMount && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")

  /// A machine with systemd, a user who lingers, and a systemd-run that is `script`; only the start
  /// sees it.
  private func start(
    _ bench: SessionBench, _ spec: SessionSpec, lingers: Bool, script: String
  ) throws -> SessionStatus? {
    let tool = bench.folder.appending(path: "bin/systemd-run")
    try FileManager.default.createDirectory(
      at: tool.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: tool)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
    bench.environment["PATH"] = tool.deletingLastPathComponent().path + ":/usr/bin:/bin"
    bench.environment["XDG_RUNTIME_DIR"] = bench.folder.path
    bench.environment["USER"] = "somebody"
    let machine = """
      mount -t tmpfs none /run && mkdir -p /run/systemd/system &&
      mount -t tmpfs none /var/lib && mkdir -p /var/lib/systemd/linger &&
      mount -t tmpfs none /etc && mkdir /etc/systemd &&
      printf '[Login]\\nKillUserProcesses=yes\\n' >/etc/systemd/logind.conf &&
      \(lingers ? "touch /var/lib/systemd/linger/somebody" : "true") &&
      exec \(SessionBench.program) start --marker \(SessionBench.marker)
      """
    let process = try RunningProcess(
      ["/usr/bin/unshare", "-m", "/bin/sh", "-c", machine], environment: bench.environment)
    let (output, code) = process.finish(Frame.start(spec).encoded)
    try #require(code == 0, "it was not started")
    try waitUntil { !bench.text("runs").isEmpty }
    guard case .status(let status)? = try SessionBench.frames(in: output).last else { return nil }
    return status
  }

  private static let runner =
    "echo \"$@\" >>\"$HOME/called\"; while [ \"$1\" != -- ]; do shift; done"

  @Test(.enabled(if: canUnshare)) func whereTheUserLingersTheKeeperGetsAScopeOfItsOwn() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; read word")
    let status = try start(
      bench, spec, lingers: true, script: "\(Self.runner); shift; exec \"$@\"")
    #expect(status?.state == .running && status?.survivesLogout == "yes")
    #expect(bench.text("called").hasPrefix("--user --scope --collect --quiet -- "))
    #expect(bench.text("runs") == "run\n")
    let client = try bench.attach(spec.session)
    try client.greet()
    try client.type("x\n")
    #expect(try client.close() == 0)
  }

  @Test(.enabled(if: canUnshare)) func aScopeThatIsNotMadeIsDoneWithoutAndReported() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; read word")
    let status = try start(bench, spec, lingers: true, script: "exit 1")
    #expect(status?.state == .running && status?.survivesLogout.hasPrefix("no: ") == true)
    #expect(status?.survivesLogout.contains("made no scope") == true)
    #expect(bench.text("runs") == "run\n")
  }

  @Test(.enabled(if: canUnshare)) func withoutLingerNothingIsEnabledAndTheAnswerSaysWhatWould()
    throws
  {
    let bench = try SessionBench()
    let spec = bench.spec("echo run >>runs; read word")
    let status = try start(bench, spec, lingers: false, script: Self.runner)
    #expect(status?.survivesLogout.contains("loginctl enable-linger") == true)
    #expect(bench.text("called").isEmpty && bench.text("runs") == "run\n")
  }
}
