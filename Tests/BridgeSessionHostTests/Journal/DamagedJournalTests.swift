import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Output that cannot be read, or is not what was written, is one gap: what lies around it arrives.
@Suite struct DamagedJournalTests {
  /// An ended session with more than four segments, which may be a fourth longer than 1 MiB; its
  /// output, and where they begin.
  private func session(
    _ bench: SessionBench
  ) throws -> (session: SessionID, whole: [UInt8], starts: [UInt64]) {
    let spec = bench.spec("seq 1 1000000; exit 3") { $0.cap = 8 << 20 }
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    let journal = Journal(try Directory(bench.place(of: spec.session)))
    let whole = Array((1...1_000_000).map { "\($0)\n" }.joined().utf8)
    #expect(journal.newest == UInt64(whole.count) && journal.segments.count > 4)
    return (spec.session, whole, journal.segments.map(\.start))
  }

  private func name(_ kind: String, _ start: UInt64) -> String {
    let text = String(start, radix: 16)
    return "\(kind)." + String(repeating: "0", count: 16 - text.count) + text
  }

  private static let damages: [(name: String, script: String)] = [
    ("a byte differs", "printf X | dd of=$OUT bs=1 seek=500000 conv=notrunc status=none"),
    ("the end is missing", "truncate -s 500000 $OUT"),
    ("the file is missing", "rm $OUT"),
    ("it is empty", ": >$OUT"),
    ("the index is missing", "rm $IDX"),
    ("the index is empty", ": >$IDX"),
    ("the index is of another place", "printf '\\0\\1' | dd of=$IDX bs=1 conv=notrunc status=none"),
    ("the seal differs", "printf '\\377\\377' | dd of=$IDX bs=1 seek=36 conv=notrunc status=none"),
  ]

  @Test(arguments: damages.indices) func aDamagedSegmentIsOneGapOfItsOwnLength(index: Int) throws {
    let bench = try SessionBench()
    let (session, whole, starts) = try session(bench)
    let (title, script) = Self.damages[index]
    let variables = "OUT=\(name("out", starts[2])) IDX=\(name("idx", starts[2]))"
    let shell = try RunningProcess(
      ["/bin/sh", "-c", "cd \(bench.place(of: session)); \(variables); \(script)"],
      environment: bench.environment)
    #expect(shell.finish().status == 0, "\(title)")
    let kept = whole[..<Int(starts[2])] + whole[Int(starts[3])...]
    let (frames, status) = try bench.run(["read", "--session", session.description])
    #expect(status == 0, "\(title)")
    #expect(frames.contains(.gap(from: starts[2], to: starts[3])), "\(title)")
    let client = try bench.attach(session)
    try client.pump { $0.end != nil }
    #expect(client.gaps == [starts[2]..<starts[3]], "\(title)")
    let isWhole = client.all == Array(kept)
    #expect(isWhole, "\(title)")
    #expect(client.end == .exited(status: 3), "\(title)")
    // It is attached as often as wanted, also in the middle of the damage.
    let middle = try bench.attach(
      session,
      resume: ResumePoint(epoch: client.welcome?.epoch ?? 0, received: starts[2] + 1000))
    try middle.pump { $0.end != nil }
    #expect(middle.gaps == [(starts[2] + 1000)..<starts[3]], "\(title)")
    let hasRest = middle.all == Array(whole[Int(starts[3])...])
    #expect(hasRest, "\(title)")
  }

  @Test func aDamagedLastSegmentOfATerminalStillShowsAScreenAndTheEnd() throws {
    let bench = try SessionBench()
    let spec = bench.spec("seq 1 300000; exit 3") { $0.terminal = Array("xterm".utf8) }
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    let journal = Journal(try Directory(bench.place(of: spec.session)))
    let last = try #require(journal.segments.last)
    let file = bench.place(of: spec.session) + "/" + last.dataName
    try Data("short".utf8).write(to: URL(fileURLWithPath: file))
    let client = try bench.attach(spec.session) { $0.replay = .screen }
    try client.pump { $0.end != nil }
    #expect(client.end == .exited(status: 3))
  }
}
