import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

/// What `Supervisor.add` returns, and what its options do.
@Suite struct SupervisorLinkTests {
  private let scene = Scene()

  private func add(
    _ id: ConnectionID = "a", _ options: LinkOptions = LinkOptions(liveness: nil),
    onConnected: @escaping @Sendable (ScriptedConnection) async -> Void = { _ in }
  ) throws -> Link<ScriptedConnection> {
    let host = scene.host
    return try scene.run { [scene] in
      try await scene.supervisor.add(
        id, to: host.endpoint, options, onConnected: onConnected,
        make: { _ in host.connection(id, host.connections.count + 1) })
    }
  }

  private func state(of link: Link<ScriptedConnection>) throws -> LinkState? {
    try scene.run { await link.state }
  }

  @Test func aLinkHasItsConnectionItsStateAndItsEvents() throws {
    let link = try add()
    let seen = EventRecorder<String>()
    let events = link.events()
    Task(executorPreference: scene.executor) {
      for await event in events { seen.record(event.name) }
      seen.record("end")
    }
    let other = try add("b")
    let connection = try scene.run { try await link.connection }
    #expect(connection.id == "a")
    #expect(try state(of: link) == .up(generation: 1))
    try scene.run { [scene] in
      await connection.lose()
      try await scene.clock.sleep(until: scene.clock.now + .seconds(1))
      await link.close()
    }
    try scene.pass(.seconds(1))
    #expect(try state(of: link) == nil)
    #expect(try state(of: other) == .up(generation: 1))
    #expect(seen.events.suffix(2) == ["closed", "end"])
    #expect(seen.events.filter { $0 == "failed" }.count == 1)
  }

  @Test func aFirstDialIsRepeatedUntilTheHostIsThere() throws {
    scene.host.answer = .refuse
    let link = try add()
    try scene.pass(.seconds(30))
    #expect(scene.host.tally.dials > 5)
    scene.host.answer = .accept
    _ = try scene.run { try await link.connection }
  }

  @Test func retryNowDialsWhatHasGivenUp() throws {
    scene.host.answer = .rejectCredentials
    let link = try add()
    #expect(throws: AppError.self) { try scene.run { try await link.connection } }
    scene.host.answer = .accept
    try scene.run { await link.retryNow() }
    _ = try scene.run { try await link.connection }
  }

  /// A token is fetched anew for each dial, and what that throws is a failed dial.
  @Test func makingAConnectionMayTakeTimeAndFail() throws {
    let (host, clock) = (scene.host, scene.clock)
    let made = EventRecorder<Duration>()
    let link = try scene.run { [scene] in
      try await scene.supervisor.add(
        "a", to: host.endpoint, LinkOptions(liveness: nil),
        make: { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
          made.record(clock.elapsed)
          try? await clock.sleep(until: clock.now + .seconds(1))
          if made.events.count < 3 { throw .networkUnavailable }
          return host.connection("a", made.events.count)
        })
    }
    _ = try scene.run { try await link.connection }
    #expect(made.events.count == 3)
    #expect(scene.host.tally.dials == 1)
  }

  @Test func aLinkClosedWhileItsConnectionIsMadeLeavesNothing() throws {
    let (host, clock) = (scene.host, scene.clock)
    let link = try scene.run { [scene] in
      try await scene.supervisor.add(
        "a", to: host.endpoint, LinkOptions(liveness: nil),
        make: { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
          // It takes its time although it is canceled.
          await Task(executorPreference: scene.executor) {
            try? await clock.sleep(until: clock.now + .seconds(2))
          }.value
          return host.connection("a", 1)
        })
    }
    try scene.pass(.seconds(1))
    try scene.run { await link.close() }
    #expect(try state(of: link) == nil)
    try scene.pass(.seconds(2))
    #expect(host.tally.open == 0)
    #expect(host.tally.dials == 0)
  }

  @Test func aConnectionToAnotherEndpointIsAnError() throws {
    let elsewhere = ScriptedHost(Endpoint(host: "elsewhere", port: 1), clock: scene.clock)
    let link = try scene.run { [scene] in
      try await scene.supervisor.add("a", to: scene.host.endpoint) { _ in
        elsewhere.connection("a", 1)
      }
    }
    #expect(
      throws: AppError.internalError(detail: "a leads to host:22, its connection to elsewhere:1")
    ) { try scene.run { try await link.connection } }
  }

  @Test func theApplicationOverrulesTheClassOfAFailure() throws {
    scene.host.answer = .rejectCredentials
    let options = LinkOptions(
      liveness: nil, classify: { $0.kind == .authenticationRefused ? .reconnect : nil })
    _ = try add("a", options)
    try scene.pass(.seconds(60))
    #expect(scene.host.tally.dials > 3)
    scene.host.answer = .changeHostKey
    try scene.pass(.seconds(60))
    let dials = scene.host.tally.dials
    try scene.pass(.seconds(600))
    #expect(scene.host.tally.dials == dials)
  }

  @Test func aDialThatTakesTooLongFailsAsTheTransportSays() throws {
    scene.host.answer = .hang
    let options = LinkOptions(
      retriesFirstDial: false, liveness: nil, attemptLimit: .milliseconds(1_500))
    let link = try add("a", options)
    #expect(throws: AppError.sshTimeout(seconds: 2)) {
      try scene.run { try await link.connection }
    }
    #expect(scene.clock.elapsed == .milliseconds(1_500))
    #expect(try scene.shown()?.context?.phase == .keyExchange)
    try scene.pass(.seconds(1))
    #expect(scene.host.tally.open == 0)
  }

  /// All timers are late by then: what the host has answered is not read yet.
  @Test func timeInWhichTheProcessWasStoppedIsNotTheHosts() throws {
    scene.host.answer = .hang
    let options = LinkOptions(
      retriesFirstDial: false, liveness: nil, attemptLimit: .milliseconds(1_600))
    let link = try add("a", options)
    try scene.pass(.milliseconds(400))
    scene.clock.advance(by: .seconds(5))
    try scene.pass(.milliseconds(1_000))
    #expect(scene.host.tally.open == 1)
    // A stop counts as a sixteenth of the limit.
    try scene.pass(.milliseconds(200))
    #expect(try scene.shown()?.error == .sshTimeout(seconds: 2))
    #expect(scene.host.tally.open == 0)
    _ = link
  }

  private static let askingOptions = LinkOptions(
    retriesFirstDial: false, liveness: nil, attemptLimit: .milliseconds(1_500))

  @Test func theTimeThatAPersonTakesIsNotTheHosts() throws {
    scene.host.questionTime = .seconds(60)
    let link = try add("a", Self.askingOptions)
    _ = try scene.run { try await link.connection }
    #expect(scene.clock.elapsed >= .seconds(60))
    #expect(scene.host.tally.dials == 1)
  }

  @Test func behindThePersonsTimeTheHostsOwnIsLimited() throws {
    scene.host.questionTime = .seconds(60)
    scene.host.answer = .hang
    let link = try add("a", Self.askingOptions)
    #expect(throws: AppError.sshTimeout(seconds: 2)) {
      try scene.run { try await link.connection }
    }
    #expect(scene.clock.elapsed == .milliseconds(61_500))
  }
}

/// `onConnected` runs for one generation at a time.
@Suite struct SupervisorHandOverTests {
  private let scene = Scene()
  private let log = EventRecorder<String>()

  /// A link whose handler goes on for `time` after it was canceled.
  private func start(readingOnFor time: Duration) throws {
    let (host, clock, log) = (scene.host, scene.clock, log)
    _ = try scene.run { [scene] in
      try await scene.supervisor.add(
        "a", to: host.endpoint, LinkOptions(liveness: nil),
        onConnected: { connection in
          let number = connection.generation
          log.record("begin \(number)")
          try? await clock.sleep(until: clock.now + .seconds(3_600))
          let end = clock.now + time
          await Task(executorPreference: scene.executor) { try? await clock.sleep(until: end) }
            .value
          log.record("end \(number)")
        },
        make: { _ in host.connection("a", host.tally.dials + 1) })
    }
    try scene.pass(.seconds(1))
  }

  private func lose() throws {
    try scene.run { [scene] in await scene.host.cut() }
  }

  @Test func theNextGenerationIsHandedOverWhenTheLastWasReadToItsEnd() throws {
    try start(readingOnFor: .seconds(2))
    try lose()
    try scene.pass(.seconds(1))
    #expect(scene.count("recovered") == 2)
    #expect(log.events == ["begin 1"])
    try scene.pass(.seconds(2))
    #expect(log.events == ["begin 1", "end 1", "begin 2"])
  }

  @Test func aHandlerThatDoesNotReturnIsWaitedForUntilTheLimit() throws {
    try start(readingOnFor: .seconds(60))
    try lose()
    try scene.pass(.seconds(4))
    #expect(log.events == ["begin 1"])
    try scene.pass(.seconds(2))
    #expect(log.events == ["begin 1", "begin 2"])
    try scene.pass(.seconds(60))
    #expect(log.events == ["begin 1", "begin 2", "end 1"])
  }

  @Test func aGenerationThatEndedBeforeItsTurnIsHandedOverEvenSo() throws {
    try start(readingOnFor: .seconds(2))
    try lose()
    try scene.pass(.milliseconds(500))
    try lose()
    try scene.pass(.seconds(12))
    #expect(log.events == ["begin 1", "end 1", "begin 2", "end 2", "begin 3"])
  }
}
