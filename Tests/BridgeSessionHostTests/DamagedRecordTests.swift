import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A record with another byte than was written tells no status, and touches no other session.
@Suite struct DamagedRecordTests {
  private func ended(_ bench: SessionBench, _ status: Int) throws -> SessionID {
    let spec = bench.spec("echo text; exit \(status)")
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    try waitUntil { bench.keepers(of: spec.session).isEmpty }
    return spec.session
  }

  private func record(_ bench: SessionBench, _ session: SessionID, _ name: String) -> URL {
    URL(fileURLWithPath: bench.place(of: session)).appending(path: name)
  }

  @Test func everyChangedBitOfItIsNoticed() throws {
    var state = StateRecord(phase: .ended, boot: Array("boot".utf8), epoch: 7)
    state.end = .exited(status: 9)
    state.newest = 12
    let bytes = state.bytes
    #expect(try StateRecord(bytes) == state)
    for bit in 0..<(8 * bytes.count) {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let read = try? StateRecord(changed)
      // Of the name of the sum alone: the rest is what was written.
      #expect(read == nil || read == state, "bit \(bit)")
    }
  }

  @Test func aRecordOfAnOlderVersionIsRead() throws {
    let state = StateRecord(phase: .running, boot: Array("boot".utf8), epoch: 7)
    let bytes = state.bytes
    let sum = try #require(bytes.firstRange(of: Array("sum".utf8)))
    #expect(try StateRecord(Array(bytes[..<(sum.lowerBound - 1)])) == state)
  }

  @Test func itsStatusIsNotKnown() throws {
    let bench = try SessionBench()
    let session = try ended(bench, 9)
    let file = record(bench, session, StateRecord.name)
    var bytes = try Data(contentsOf: file)
    let end = try #require(bytes.range(of: Data("end".utf8)))
    // The length of the value (4 bytes), its kind, the status.
    bytes[end.upperBound + 5] = 0
    try bytes.write(to: file)
    for verb in ["wait", "attach", "kill"] {
      let (frames, status) = try bench.run([verb, "--session", session.description])
      #expect(status == Int32(HostStatus.unknownOutcome), "\(verb)")
      guard case .refused(let refusal)? = frames.last else {
        Issue.record("\(verb): \(frames)")
        continue
      }
      #expect(refusal.code == .outcomeUnknown && refusal.text.contains("damaged"))
    }
  }

  /// It is there, with its output, whether its program runs or has ended.
  @Test(arguments: [true, false]) func itIsListedAndItsOutputIsRead(runs: Bool) throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo text; exec sleep \(runs ? 600 : 0)")
    _ = try bench.start(spec)
    try bench.wait(for: spec.session, toPrint: 5)
    if !runs { try waitUntil { bench.keepers(of: spec.session).isEmpty } }
    let file = record(bench, spec.session, StateRecord.name)
    var bytes = try Data(contentsOf: file)
    bytes[20] ^= 1
    try bytes.write(to: file)
    let (listed, _) = try bench.run(["list"])
    guard case .status(let status)? = listed.first else { Issue.record("\(listed)"); return }
    #expect(status.session == spec.session && status.command == spec.command)
    #expect(status.state == (runs ? .running : .keeperDied) && status.newest == 5)
    let (frames, code) = try bench.run(["read", "--session", spec.session.description])
    let isRead = frames.contains { frame in
      if case .output(0, _, let bytes) = frame { bytes == Array("text\n".utf8) } else { false }
    }
    #expect(isRead && code == 0)
  }

  @Test(arguments: [[0x80], [UInt8](repeating: 0xFF, count: 16), [0x7F, 0xFF]])
  func theOtherSessionsAreListed(_ damage: [UInt8]) throws {
    let bench = try SessionBench()
    let sessions = [try ended(bench, 3), try ended(bench, 4)]
    let file = record(bench, sessions[0], LiveRecord.name)
    var bytes = try Data(contentsOf: file)
    bytes.replaceSubrange(0..<damage.count, with: damage)
    try bytes.write(to: file)
    for session in sessions {
      let status = try #require(try bench.status(session))
      #expect(status.committed <= status.newest)
    }
    let client = try bench.attach(sessions[0])
    try client.pump { $0.end != nil }
    #expect(client.end == .exited(status: 3))
  }

  @Test func aTimeBeyondAllEndsNoSweep() throws {
    let bench = try SessionBench()
    let session = try ended(bench, 3)
    let files = try bench.files(of: session)
    var state = try #require(files.state)
    state.endedAt = .max
    try files.record(state, syncs: false)
    Retention(roots: [try bench.root], now: Machine.seconds).sweep()
    #expect(try bench.status(session)?.end == .exited(status: 3))
  }
}
