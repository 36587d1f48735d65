import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite struct ManySessionsTests {
  /// Which of these are listed as running; those of other tests may be listed beside them.
  private func running(
    of own: Set<SessionID>, in bench: SessionBench
  ) throws -> Set<SessionID> {
    let listed = try bench.run(["list"]).frames.compactMap { frame -> SessionID? in
      guard case .status(let status) = frame, status.state == .running else { return nil }
      return status.session
    }
    return own.intersection(listed)
  }

  @Test func twoHundredSessionsLiveSideBySide() throws {
    let bench = try SessionBench()
    let specs = (0..<200).map { number in
      bench.spec("read word; echo \(number) got $word; exit \(number % 100)")
    }
    for spec in specs { _ = try bench.start(spec) }
    let own = Set(specs.map(\.session))
    #expect(try running(of: own, in: bench) == own)
    // Each is its own: a word reaches one program.
    for number in [0, 99, 199] {
      let client = try bench.attach(specs[number].session)
      try client.type("word\n")
      #expect(try client.close() == 0)
      #expect(client.text == "\(number) got word\n")
      #expect(client.end == .exited(status: UInt8(number % 100)))
    }
    try waitUntil { try running(of: own, in: bench).count <= 197 }
    // One whose keeper dies is the only one that is lost.
    for keeper in bench.keepers(of: specs[1].session) { TestMachine.kill(keeper) }
    try waitUntil { try bench.status(specs[1].session)?.state != .running }
    let states = try specs.dropFirst(2).prefix(97).map { try bench.status($0.session)?.state }
    #expect(states.allSatisfy { $0 == .running })
  }

  @Test func aViewerThatReadsNothingHoldsUpNoOther() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word; seq 1 1000000; exit 4")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    let viewer = try bench.launch(["attach", "--session", spec.session.description])
    let hello = bench.hello(spec.session) { $0.role = .viewer }
    var sent = 0
    while sent < hello.count {
      if case .wrote(let count)? = viewer.input?.write(hello, from: sent) { sent += count }
    }
    try waitUntil { try bench.status(spec.session)?.attached == 1 }
    let client = try bench.attach(spec.session)
    try client.greet()
    let before = try SessionBench.peakMemory(of: keeper)
    try client.type("go\n")
    try client.pump { $0.end != nil }
    let isWhole = client.all == Array((1...1_000_000).map { "\($0)\n" }.joined().utf8)
    #expect(isWhole)
    #expect(client.gaps.isEmpty && client.end == .exited(status: 4))
    #expect(try SessionBench.peakMemory(of: keeper) < before + 16 << 10, "KiB")
    #expect(try client.close() == 0)
  }
}
