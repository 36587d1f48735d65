import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

/// Silence that is ours, silence that is the peer's, and what lies between.
@Suite struct SupervisorLivenessTests {
  private let scene = Scene()
  private let liveness = LivenessPolicy(keepalive: .seconds(2), switching: .free)

  private func start(_ liveness: LivenessPolicy) throws -> ScriptedConnection {
    let link = scene.link(liveness: liveness)
    try scene.run { [scene] in
      try await scene.supervisor.add(link)
      _ = try await scene.supervisor.connection(link.id)
    }
    try scene.pass(.milliseconds(100))
    return try #require(scene.host.connections.first)
  }

  /// When the peer was declared dead, counted from `start`; nil for not within `limit`.
  private func dead(within limit: Duration) throws -> Duration? {
    let start = scene.clock.now
    try scene.pass(limit)
    return scene.events.events.first { $0.name == "failed" }.map { $0.at - start }
  }

  @Test(arguments: [LivenessPolicy.SwitchingCost.free, .costly])
  func aConnectionThatDoesNotReadForHoursIsNeitherSuspectedNorReplaced(
    switching: LivenessPolicy.SwitchingCost
  ) throws {
    let connection = try start(LivenessPolicy(keepalive: .seconds(2), switching: switching))
    try scene.run { await connection.stopReading() }
    try scene.pass(.seconds(3 * 3_600))
    #expect(scene.count("suspected") == 0 && scene.count("failed") == 0)
    #expect(scene.host.tally.dials == 1)
    try scene.run { await connection.resumeReading() }
    try scene.pass(.seconds(60))
    #expect(scene.count("suspected") == 0)
    #expect(scene.host.tally.open == 1)
  }

  @Test func aPeerThatDiedBehindAPauseIsDetectedOnceTheConnectionReadsAgain() throws {
    let connection = try start(liveness)
    try scene.run { await connection.stopReading() }
    try scene.pass(.seconds(600))
    try scene.run { await connection.freeze() }
    try scene.pass(.seconds(600))
    #expect(scene.count("suspected") == 0)
    try scene.run { await connection.resumeReading() }
    // At most one keepalive until the probe, then the usual time until it is declared dead.
    let silence = try #require(try dead(within: .seconds(60)))
    #expect(
      silence <= liveness.keepalive + liveness.probeTimeout(.milliseconds(1)) + .milliseconds(1))
  }

  @Test func aSuspicionEndsWhenTheConnectionStopsReading() throws {
    let connection = try start(LivenessPolicy(keepalive: .seconds(2), switching: .costly))
    scene.host.freeze()
    try scene.pass(.seconds(3))
    #expect(scene.count("suspected") == 1)
    try scene.run { await connection.stopReading() }
    try scene.pass(.seconds(600))
    #expect(scene.count("cleared") == 1)
    #expect(scene.handedOver.events == ["a#1"])
  }

  /// 15 MiB at 100 KB/s: no probe can pass, and the peer's kernel takes every byte.
  @Test func aLongUploadIsNoSilence() throws {
    let connection = try start(liveness)
    try scene.run { await connection.beginUpload(bytesPerSecond: 100_000) }
    try scene.pass(.seconds(157))
    #expect(scene.count("suspected") == 0)
    try scene.run { await connection.endUpload() }
    try scene.pass(.seconds(60))
    #expect(scene.count("suspected") == 0)
    #expect(scene.host.tally.dials == 1)
  }

  @Test func aPeerThatDiesDuringAnUploadIsDetectedAsFastAsAnyOther() throws {
    let idle = try start(liveness)
    try scene.run { await idle.freeze() }
    let usual = try #require(try dead(within: .seconds(60)))
    let other = SupervisorLivenessTests()
    let busy = try other.start(liveness)
    try other.scene.run { await busy.beginUpload(bytesPerSecond: 100_000) }
    try other.scene.pass(.seconds(30))
    try other.scene.run { await busy.freeze() }
    let silence = try #require(try other.dead(within: .seconds(60)))
    #expect(silence <= usual + liveness.keepalive)
  }

  /// The kernel of a host whose process hangs acknowledges what small there is: probes, a line.
  @Test(arguments: [0, 40, 500])
  func aProcessThatHangsIsDetectedAlthoughItsKernelAcknowledges(bytesPerSecond: Int) throws {
    let connection = try start(liveness)
    try scene.run { await connection.beginUpload(bytesPerSecond: bytesPerSecond) }
    let silence = try dead(within: .seconds(60))
    #expect(silence.map { $0 < .seconds(10) } == true)
  }

  @Test func disturbancesDoNotKeepADeadPeerAlive() throws {
    let connection = try start(LivenessPolicy(keepalive: .seconds(5), switching: .costly))
    try scene.run { await connection.freeze() }
    for _ in 0..<120 {
      try scene.pass(.seconds(30))
      try scene.run { [scene] in await scene.supervisor.networkChanged() }
    }
    #expect(scene.names(of: "a").contains("switched"))
  }

  @Test func timeInWhichTheMachineSleptCountsAgainstNoPeer() throws {
    let slept = EventRecorder<Duration>()
    let scene = Scene(suspension: { slept.events.last ?? .zero })
    let link = scene.link(liveness: LivenessPolicy(keepalive: .seconds(5), switching: .costly))
    try scene.run {
      try await scene.supervisor.add(link)
      _ = try await scene.supervisor.connection(link.id)
      await scene.host.connections.first?.freeze()
    }
    try scene.pass(.seconds(35))
    #expect(scene.count("suspected") == 1)
    // Asleep for an hour: the clock jumps, and nothing of ours ran.
    scene.clock.advance(by: .seconds(3_600))
    slept.record(.seconds(3_600))
    try scene.pass(.seconds(20))
    #expect(!scene.names(of: "a").contains("switched"))
    try scene.pass(.seconds(15))
    #expect(scene.names(of: "a").contains("switched"))
  }
}
