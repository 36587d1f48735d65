import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// What an application does with a link: closes it, replaces its connection, reads its events.
@Suite struct LinkLifeTests {
  private let scene = Scene()

  private func add(
    _ name: String = "a", _ options: LinkOptions = LinkOptions(liveness: nil)
  ) throws -> Link<ScriptedConnection> {
    let id = ConnectionID(name)
    return try scene.run { [scene] in
      let link = try await scene.supervisor.add(
        id, to: scene.host.endpoint, options, onGeneration: { _, _ in }
      ) { (_: Endpoint, generation: Int) async throws(AppError) -> ScriptedConnection in
        scene.host.connection(id, generation)
      }
      _ = try await link.connection
      return link
    }
  }

  @Test func aLinkThatIsClosedIsGoneAndItsNameIsFree() throws {
    let link = try add()
    try scene.run { [scene] in
      await link.close()
      #expect(scene.host.tally.open == 0)
      #expect(await link.state == nil)
      await link.close()
    }
    _ = try add()
    #expect(scene.host.tally.dials == 2)
  }

  @Test func aRestartedLinkHasANewConnectionAndReportsTheReason() throws {
    let link = try add()
    let reason = AppError.agentSessionNotFound(sessionId: "s")
    try scene.run { [scene] in
      await link.restart(reason: reason)
      try await scene.clock.sleep(until: scene.clock.now + .milliseconds(100))
      #expect(await link.state == .up(generation: 2))
    }
    let failures = scene.events.events.compactMap { event -> AppError? in
      if case .failed(let failure) = event.step { failure.error } else { nil }
    }
    #expect(failures == [reason])
    #expect(scene.host.tally.open == 1)
  }

  /// `close` of a connection that its link uses is no end of the link.
  @Test func aConnectionThatTheApplicationClosesIsReplaced() throws {
    let link = try add()
    try scene.run { [scene] in
      try await link.connection.close()
      try await scene.clock.sleep(until: scene.clock.now + .milliseconds(100))
      #expect(await link.state == .up(generation: 2))
    }
    #expect(scene.names(of: "a").contains("failed"), "\(scene.names(of: "a"))")
  }

  /// Events of other links do not push this link's out, and its end least of all.
  @Test func noReaderMissesTheEndOfItsLink() throws {
    let link = try add()
    let events = link.events()
    try scene.run { [scene] in
      await link.close()
      for number in 0..<(2 * RecoveryDefaults.eventBuffer) {
        await scene.supervisor.report(.invalidURL(string: "\(number)"), source: "other")
      }
    }
    let names = try scene.run {
      var names: [String] = []
      for await event in events { names.append(event.name) }
      return names
    }
    #expect(names == ["closed"])
  }

  @Test func aMakeThatHangsIsAFailureAndHoldsUpNoOther() throws {
    let calls = EventRecorder<String>()
    try scene.run { [scene] in
      try await scene.supervisor.add(
        "slow", to: scene.host.endpoint, LinkOptions(liveness: nil)
      ) { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
        calls.record("begun")
        try? await scene.clock.sleep(until: scene.clock.now + .seconds(100_000))
        calls.record("canceled")
        throw .cancelled
      }
    }
    _ = try add()
    try scene.pass(RecoveryDefaults.makeLimit + .milliseconds(10))
    #expect(calls.events.sorted() == ["begun", "begun", "canceled"])
    let failure = scene.events.events.first { $0.source == "slow" && $0.name == "failed" }
    guard case .failed(let seen)? = failure?.step else {
      Issue.record("It has not failed.")
      return
    }
    #expect(seen.error == .timeout(seconds: 30))
    #expect(scene.host.tally.dials == 1)
    try scene.run { [scene] in await scene.supervisor.shutDown() }
  }

  @Test func linksOfOneGroupShareWhatTheyCostAndOthersDoNot() throws {
    scene.host.answer = .changeHostKey
    try scene.run { [scene] in
      for (name, group) in [("a", "x"), ("b", "x"), ("c", "y")] {
        let id = ConnectionID(name)
        try await scene.supervisor.add(
          id, to: scene.host.endpoint, LinkOptions(liveness: nil, group: group)
        ) { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
          scene.host.connection(id, name == "c" ? 3 : 1)
        }
        try await scene.clock.sleep(until: scene.clock.now + .seconds(1))
      }
    }
    // `b` is stopped by what `a` met; the host of `c` is another one of the same address.
    #expect(scene.host.tally.dials == 2)
  }

  @Test(arguments: [LivenessPolicy.SwitchingCost.free, .costly])
  func aSecondConnectionIsMadeByDefaultOnlyWhereNothingIsLost(
    switching: LivenessPolicy.SwitchingCost
  ) throws {
    let liveness = LivenessPolicy(keepalive: .seconds(1), switching: switching)
    _ = try add("a", LinkOptions(liveness: liveness))
    try scene.run { [scene] in await scene.host.connections.first?.freeze() }
    try scene.pass(.milliseconds(1_500))
    #expect(scene.count("suspected") == 1)
    #expect(scene.host.tally.dials == (switching == .free ? 2 : 1))
  }

  /// On the global pool a busy application would keep the supervisor waiting.
  @Test func withoutAnExecutorItDecidesOnAThreadOfItsOwn() async throws {
    let names = EventRecorder<String?>()
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1)
    let options = LinkOptions(
      retriesFirstDial: false, liveness: nil,
      // The pool, where it is made, may be busy for longer than a limit.
      makeLimit: nil,
      classify: { _ in
        names.record(Thread.current.name)
        return nil
      })
    let link = try await supervisor.add("a", to: scene.host.endpoint, options) {
      (_: Endpoint) async throws(AppError) -> ScriptedConnection in throw .networkUnavailable
    }
    await #expect(throws: AppError.networkUnavailable) { try await link.connection }
    #expect(names.events == ["bridge-super"])
    await supervisor.shutDown()
  }
}
