import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Directories that are not as this program left them: each costs its own session only, and never a
/// wait without end.
@Suite struct HostileDirectoryTests {
  /// An ended session with some output.
  private func ended(_ bench: SessionBench) throws -> SessionID {
    let spec = bench.spec("seq 1 1000; exit 3")
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    return spec.session
  }

  private static let damages: [(name: String, script: String)] = [
    ("spec is a pipe", "rm spec; mkfifo spec"), ("state is a pipe", "rm state; mkfifo state"),
    ("live is a pipe", "rm -f live; mkfifo live"), ("lock is a pipe", "rm lock; mkfifo lock"),
    ("spec is a link", "cp spec ../other; rm spec; ln -s ../other spec"),
    ("state is long", "head -c 9000000 /dev/zero >state"), ("state is empty", ": >state"),
    ("output at the last offset", "echo x >out.ffffffffffffffff"),
    ("output at 2^63", "echo x >out.8000000000000000"),
    ("output just below 2^63", "echo x >out.7ffffffffffffffe"),
    ("a file of 100 GB", "truncate -s 100G out.0000000000000000"),
    ("output is a pipe", "rm out.*; mkfifo out.0000000000000000"),
    ("output is a directory", "rm out.*; mkdir out.0000000000000000"),
    ("a directory within", "mkdir -p sub/sub"),
    ("the index is noise", "head -c 99 /dev/urandom >idx.0000000000000000"),
    ("the socket is a link to nothing", "ln -s nothing sock"),
  ]

  @Test(arguments: damages.indices)
  func aDamagedSessionNeitherHangsNorHidesAnother(index: Int) throws {
    let bench = try SessionBench()
    let (damaged, sound) = (try ended(bench), try ended(bench))
    let (name, script) = Self.damages[index]
    let shell = try RunningProcess(
      ["/bin/sh", "-c", "cd \(bench.place(of: damaged)) && \(script)"],
      environment: bench.environment)
    #expect(shell.finish().status == 0, "\(name)")
    #expect(try bench.status(sound)?.end == .exited(status: 3), "\(name)")
    let (frames, status) = try bench.run(["read", "--session", sound.description])
    #expect(status == 0 && frames.last == .ended(at: 3893, .exited(status: 3)), "\(name)")
    for verb in ["read", "wait", "kill"] {
      let (_, status) = try bench.run([verb, "--session", damaged.description])
      #expect(status <= 78, "\(name): \(verb)")
    }
    let (_, attach) = try bench.attachRaw(
      damaged,
      bench.hello(damaged) { $0.replay = .screen } + Frame.control(number: 1, .detach).encoded)
    #expect(attach <= 78, "\(name)")
    #expect(try bench.run(["list"]).status == 0)
  }

  @Test func aRemovedSocketIsMadeAgainForTheNextClient() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let socket = bench.place(of: spec.session) + "/sock"
    for _ in 0..<2 {
      try FileManager.default.removeItem(atPath: socket)
      let client = try bench.attach(spec.session)
      try client.greet()
      try client.type("x\n")
      try client.pump { $0.text.hasSuffix("got x\n") }
    }
    // Another file in its place is no socket of the keeper.
    try FileManager.default.removeItem(atPath: socket)
    try FileManager.default.createSymbolicLink(atPath: socket, withDestinationPath: "nothing")
    #expect(try bench.run(["kill", "--session", spec.session.description]).status == 0)
    _ = try bench.run(["wait", "--session", spec.session.description])
    #expect(try bench.status(spec.session)?.end == .signaled(number: 1, dumpedCore: false))
  }

  /// The end has no place to be kept, and no client can come: the keeper must not stay forever.
  @Test func theKeeperOfARemovedDirectoryEndsWithItsProgram() throws {
    let bench = try SessionBench()
    let gate = bench.file("gate")
    let spec = bench.spec("until test -e \(gate); do sleep 0.01; done; echo out; exit 5")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    try FileManager.default.removeItem(atPath: bench.place(of: spec.session))
    #expect(FileManager.default.createFile(atPath: gate, contents: nil))
    let isOpen = { FileManager.default.fileExists(atPath: "/proc/\(keeper)/fd/3") }
    for _ in 0..<10_000 where isOpen() { TestMachine.pause() }
    #expect(!isOpen())
    if isOpen() { TestMachine.kill(keeper) }
  }

  /// What was requested of it would be carried out once it goes on.
  @Test(arguments: ["attach", "kill"])
  func aStoppedKeeperIsReportedAndTheProgramIsLeftAlone(verb: String) throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word; exit 5")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    TestMachine.stop(keeper)
    let (frames, status) = try bench.run([verb, "--session", spec.session.description])
    guard case .refused(let refusal)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(status == 78 && refusal.text.hasSuffix("(process \(keeper)) does not answer."))
    #expect(try bench.status(spec.session)?.state == .running)
    TestMachine.resume(keeper)
    let client = try bench.attach(spec.session)
    try client.greet()
    try client.type("x\n")
    #expect(try client.close() == 0)
    #expect(client.end == .exited(status: 5))
  }

  // MARK: Another user

  private static let canBecomeAnother =
    TestMachine.isRoot && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
    && FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  private func asAnother(_ bench: SessionBench, _ arguments: [String]) throws -> RunningProcess {
    try RunningProcess(
      ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + arguments,
      environment: bench.environment)
  }

  /// Even where the modes of every directory and file were opened to all.
  @Test(.enabled(if: canBecomeAnother))
  func anotherUserIsTurnedAwayAtTheSocketAndCannotSignal() throws {
    let bench = try SessionBench()
    let spec = bench.spec("while read word; do echo got $word; done")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    let keeper = try #require(bench.keepers(of: spec.session).first)
    let place = bench.place(of: spec.session)
    let open = try RunningProcess(
      ["/bin/chmod", "-R", "a+rwX", bench.folder.path], environment: bench.environment)
    #expect(open.finish().status == 0)
    let script = """
      import os, socket, sys
      peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      peer.connect("\(place)/sock")
      try:
        peer.sendmsg([bytes([1, 2, 4])])
        answer = peer.recv(64)
      except OSError:
        answer = b""
      try:
        os.kill(\(keeper), 9)
      except PermissionError:
        print("refused", len(answer))
      """
    let (output, _) = try asAnother(bench, ["/usr/bin/python3", "-c", script]).finish()
    #expect(String(decoding: output, as: UTF8.self) == "refused 0\n")
    for verb in ["attach", "read", "kill", "wait"] {
      let arguments = [SessionBench.program, verb, "--session", spec.session.description]
      #expect(try asAnother(bench, arguments).finish().status != 0, "\(verb)")
    }
    let (listed, _) = try asAnother(bench, [SessionBench.program, "list"]).finish()
    #expect(!String(decoding: listed, as: UTF8.self).contains(spec.session.description))
    try client.type("x\n")
    try client.pump { $0.text == "got x\n" }
  }

  /// No descriptor of a login is handed to a socket that another user listens on.
  @Test(.enabled(if: canBecomeAnother)) func aSocketOfAnotherUserInTheKeepersPlaceGetsNothing()
    throws
  {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    let trap = bench.file("trap")
    try FileManager.default.createDirectory(
      atPath: trap, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777])
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o777], ofItemAtPath: bench.folder.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: trap)
    let script = """
      import socket, os
      peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      peer.bind("\(trap)/sock")
      os.chmod("\(trap)/sock", 0o777)
      peer.listen(5)
      print("ready", flush=True)
      while True:
        caller, _ = peer.accept()
        message = caller.recvmsg(64, 1024)
        if message[0]: print("got", message[0], flush=True)
      """
    let listener = try asAnother(bench, ["/usr/bin/python3", "-c", script])
    var said: [UInt8] = []
    while !said.contains(UInt8(ascii: "\n")) {
      switch listener.output.read(100) {
      case .bytes(let more): said += more
      case .nothing: listener.wait(writes: false)
      case .end: Issue.record("no listener"); return
      }
    }
    let socket = bench.place(of: spec.session) + "/sock"
    try FileManager.default.removeItem(atPath: socket)
    try FileManager.default.createSymbolicLink(
      atPath: socket, withDestinationPath: "\(trap)/sock")
    // The keeper makes its socket again.
    let client = try bench.attach(spec.session)
    try client.greet()
    #expect(client.machine.phase == .attached)
    guard case .nothing = listener.output.read(100) else {
      Issue.record("it got a message"); return
    }
  }
}
