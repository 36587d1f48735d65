import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// `kill` reaches the processes of its session, and no others.
@Suite(.timeLimit(.minutes(2))) struct KillTests {
  private func files(of session: SessionID, _ bench: SessionBench) throws -> SessionFiles {
    let root = StateRoot(directory: try Directory(bench.sessionsFolder.path))
    return try #require(SessionFiles(session, in: [root]))
  }

  /// A program whose leader has ended, and whose output a child in a group of its own holds open.
  private func startHeld(_ bench: SessionBench) throws -> SessionID {
    let spec = bench.spec("setsid sleep 1000 & exit 3")
    _ = try bench.start(spec)
    let files = try files(of: spec.session, bench)
    try waitUntil { files.state?.phase == .exited }
    return spec.session
  }

  @Test(arguments: [[], ["--signal", "TERM"]])
  func whatHoldsTheOutputIsSignaledOnceTheLeaderHasEnded(signal: [String]) throws {
    let bench = try SessionBench()
    let session = try startHeld(bench)
    let (_, status) = try bench.run(["kill", "--session", session.description] + signal)
    #expect(status == 0)
    try waitUntil { try bench.status(session)?.state == .ended }
    #expect(try bench.status(session)?.end == .exited(status: 3))
  }

  /// It would be carried out once the keeper goes on, whatever was answered.
  @Test func nothingIsRequestedOfAKeeperThatIsStopped() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word; exit 4")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    TestMachine.stop(keeper)
    let (frames, status) = try bench.run(["kill", "--session", spec.session.description])
    TestMachine.resume(keeper)
    guard case .refused(let refusal)? = frames.last else {
      Issue.record("it was not refused")
      return
    }
    #expect(status != 0 && refusal.code == .directory)
    let client = try bench.attach(spec.session)
    try client.type("go\n")
    try client.pump { $0.end != nil }
    #expect(client.end == .exited(status: 4))
  }

  @Test func aGroupWithoutAProcessOfTheSessionIsNotItsOwn() throws {
    let child = try RunningProcess(["/bin/sh", "-c", "read word"], environment: [:])
    defer { child.end() }
    let tree = ProcessTree()
    #expect(tree.members.contains { $0.process == child.process })
    #expect(tree.members.allSatisfy { $0.process != getppid() && $0.process != getpid() })
    #expect(!tree.hasMember(of: getpgid(getppid()) == getpgrp() ? 1 : getpgid(getppid())))
  }
}
