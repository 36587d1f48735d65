import BridgeErrors
import BridgeRecovery
import Testing

/// A connection that was lost had been of use: what is known of its retries is forgotten.
@Suite struct RedialTests {
  private let id = ConnectionID("a")

  /// Loses the connection as soon as it is up until it has to wait for the budget of its dials, or
  /// for the breaker.
  private func worn() throws -> (bench: MachineBench, generation: Int) {
    var bench = MachineBench()
    try bench.add("a")
    bench.connect("a")
    let generation = try bench.tripBreaker(with: "a")
    bench.fail("a", generation, .linkLost)
    return (bench, generation)
  }

  @Test func itIsDialedAtOnceAfterHoweverManyOutages() throws {
    var (bench, generation) = try worn()
    #expect(bench.dials.isEmpty)
    bench.step(.redial(id, after: .zero))
    #expect(bench.dials == ["a#\(generation + 1)"])
    // What follows has the first waits again, none of them nothing: its owner is asked.
    let before = bench.now
    bench.connect("a", generation + 1)
    bench.fail("a", generation + 1, .linkLost)
    #expect(bench.dials.isEmpty && bench.names.contains("waiting"))
    #expect(bench.pump(["a"], for: .seconds(1)) == [generation + 2])
    #expect(bench.now - before <= RecoveryDefaults.reconnectBase)
  }

  @Test func itWaitsAsLongAsIsAskedFor() throws {
    var (bench, generation) = try worn()
    bench.step(.redial(id, after: .milliseconds(200)))
    #expect(bench.dials.isEmpty)
    let before = bench.now
    #expect(bench.pump(["a"], for: .seconds(60)) == [generation + 1])
    #expect(bench.now - before == .milliseconds(200))
  }

  @Test func aWaitThatTheServerRequiresStays() throws {
    var bench = MachineBench()
    try bench.add("a")
    bench.connect("a")
    bench.fail("a", 1, .linkLost)
    bench.fail("a", try #require(bench.pump(["a"], for: .seconds(1)).last), .throttled)
    let before = bench.now
    bench.step(.redial(id, after: .zero))
    #expect(bench.pump(["a"], for: .seconds(600)) == [3])
    #expect(bench.now - before >= .seconds(10))
  }

  @Test func whatIsUpOrHasGivenUpIsNotDialed() throws {
    var bench = MachineBench()
    try bench.add("a")
    bench.connect("a")
    bench.step(.redial(id, after: .zero))
    #expect(bench.dials.isEmpty && bench.state("a") == .up(generation: 1))
    bench.fail("a", 1, .authenticationRefused, .sshAuthenticationFailed(method: "password"))
    bench.step(.redial(id, after: .zero))
    #expect(bench.dials.isEmpty)
  }
}
