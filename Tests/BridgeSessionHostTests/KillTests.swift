import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// `kill` reaches the processes of its session, and no others.
@Suite(.timeLimit(.minutes(2))) struct KillTests {
  /// A program whose leader has ended, and whose output a child in a group of its own holds open.
  private func startHeld(_ bench: SessionBench) throws -> SessionID {
    let spec = bench.spec("setsid sleep 1000 & exit 3")
    _ = try bench.start(spec)
    let files = try bench.files(of: spec.session)
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

  /// What the signal does is not what was found.
  @Test func theAnswerIsOfTheSessionBeforeTheSignal() throws {
    let bench = try SessionBench()
    for _ in 0..<20 {
      let spec = bench.spec("exec sleep 1000")
      _ = try bench.start(spec)
      let words = ["kill", "--session", spec.session.description, "--signal", "KILL"]
      guard case .status(let found) = try bench.run(words).frames.last else {
        Issue.record("no status")
        return
      }
      #expect(found.state == .running)
    }
  }

  /// Nothing of what is kept may be dropped, so the program waits.
  @Test(arguments: ["kill", "end"])
  func aProgramThatWaitedForSpaceHasItsEndAlsoWithoutAReader(how: String) throws {
    let bench = try SessionBench()
    let rest = how == "kill" ? "exec sleep 1000 >&1" : "exit 3"
    // What exceeds the cap fits into the pipe.
    let spec = bench.spec("head -c 1100000 /dev/zero; echo rest; touch written; \(rest)") {
      $0.cap = Segment.shortest
      $0.whenFull = .wait
    }
    _ = try bench.start(spec)
    try waitUntil { FileManager.default.fileExists(atPath: bench.file("written")) }
    if how == "kill" {
      let (_, status) = try bench.run(["kill", "--session", spec.session.description])
      #expect(status == 0)
    }
    try waitUntil { try bench.status(spec.session)?.state == .ended }
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    let isWhole = client.all == [UInt8](repeating: 0, count: 1_100_000) + Array("rest\n".utf8)
    #expect(isWhole && client.gaps.isEmpty)
    let end = ProgramEnd.signaled(number: UInt8(SIGHUP), dumpedCore: false)
    #expect(client.end == (how == "kill" ? end : .exited(status: 3)))
  }

  @Test func aGroupWithoutAProcessOfTheSessionIsNotItsOwn() throws {
    let child = try RunningProcess(["/bin/sh", "-c", "read word"], environment: [:])
    defer { child.end() }
    let tree = ProcessTree()
    #expect(tree.members.contains { $0.process == child.process })
    #expect(tree.members.allSatisfy { $0.process != getppid() && $0.process != getpid() })
    #expect(tree.hasMember(of: getpgid(child.process)) && !tree.hasMember(of: getpgid(1)))
  }
}
