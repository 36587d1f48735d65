import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

@Suite struct SupervisorConnectionTests {
  private let scene = Scene()
  private let id = ConnectionID("a")

  private func start(_ link: ScriptedLink) throws {
    try scene.run { [scene] in
      try await scene.supervisor.add(link)
      _ = try await scene.supervisor.connection(link.id)
    }
  }

  @Test func aConnectionIsMadeAndHandedOver() throws {
    try start(scene.link())
    try scene.pass(.milliseconds(1))
    #expect(scene.handedOver.events == ["a#1"])
    #expect(scene.names(of: "a") == ["attempt", "recovered"])
  }

  @Test func whatWasHandedOverIsToldWhenItEnds() throws {
    let ended = EventRecorder<Int>()
    var link = scene.link()
    link.onConnected = { [clock = scene.clock] _, generation in
      do {
        try await clock.sleep(until: clock.now + .seconds(3_600))
      } catch {
        ended.record(generation)
      }
    }
    try start(link)
    try scene.run { [scene] in await scene.host.cut() }
    try scene.pass(.seconds(1))
    #expect(ended.events == [1])
  }

  @Test func aCutLinkIsBackAtOnceAndNothingIsShown() throws {
    try start(scene.link())
    try scene.run { [scene] in await scene.host.cut() }
    try scene.pass(.milliseconds(80))
    #expect(scene.handedOver.events == ["a#1", "a#2"])
    try scene.pass(.seconds(1))
    #expect(scene.count("surfaced") == 0)
    #expect(scene.host.tally.open == 1)
    #expect(
      scene.names(of: "a") == [
        "attempt", "recovered", "failed", "classified", "attempt", "recovered",
      ])
  }

  @Test func theFirstDialIsNotTriedAgainUnlessAsked() throws {
    scene.host.answer = .refuse
    #expect(throws: AppError.self) { try start(scene.link()) }
    try scene.pass(.seconds(60))
    #expect(scene.host.tally.dials == 1)
    #expect(try scene.shown()?.source == "a")
  }

  @Test func aHostThatIsDownIsTriedUntilItIsBackAndThenTheErrorGoes() throws {
    try start(scene.link())
    scene.host.answer = .refuse
    try scene.run { [scene] in await scene.host.cut() }
    try scene.pass(.seconds(20))
    #expect(try scene.shown() != nil)
    scene.host.answer = .accept
    try scene.pass(.milliseconds(1_010))
    #expect(try scene.shown() == nil)
    #expect(scene.count("withdrawn") == 1)
    #expect(scene.host.tally.dials > 20)
  }

  @Test(arguments: [ScriptedHost.Answer.rejectCredentials, .changeHostKey])
  func whatOnlyAPersonCanMendIsNotTriedAgain(answer: ScriptedHost.Answer) throws {
    try start(scene.link())
    scene.host.answer = answer
    try scene.run { [scene] in await scene.host.cut() }
    try scene.pass(.seconds(3_600))
    #expect(scene.host.tally.dials == 2)
    scene.host.answer = .accept
    try scene.run { [scene] in await scene.supervisor.choose(.reconnect) }
    try scene.pass(.seconds(1))
    #expect(scene.handedOver.events == ["a#1", "a#2"].map { $0.replacing("#2", with: "#3") })
    #expect(try scene.shown() == nil)
  }

  @Test func aChosenReconnectThatFailsShowsTheSameErrorWithAnUpdatedMessage() throws {
    scene.host.answer = .rejectCredentials
    #expect(throws: AppError.self) { try start(scene.link()) }
    let before = try scene.shown()
    let first = try #require(before)
    try scene.run { [scene] in await scene.supervisor.choose(.retry) }
    try scene.pass(.seconds(1))
    let after = try scene.shown()
    let second = try #require(after)
    #expect(second.id == first.id)
    #expect(second.message == first.message + " Retry failed (attempt 1).")
  }

  @Test func corruptionIsTriedOnceMoreAndThenAPersonIsAsked() throws {
    try start(scene.link())
    scene.host.answer = .corrupt
    try scene.run { [scene] in await scene.host.cut() }
    try scene.pass(.seconds(600))
    #expect(scene.host.tally.dials == 3)
    #expect(scene.count("gaveUp") == 1)
  }

  @Test func whatDependsOnALostConnectionIsSuspendedAndComesBackAfterIt() throws {
    try scene.run { [scene] in
      try await scene.supervisor.add(scene.link("child", parents: ["a"]))
      try await scene.supervisor.add(scene.link())
      _ = try await scene.supervisor.connection(ConnectionID("child"))
    }
    #expect(scene.host.tally.dials == 2)
    try scene.run { [scene] in
      await scene.host.connections.first { $0.id.description == "a" }?.lose()
    }
    try scene.pass(.seconds(1))
    #expect(
      scene.names(of: "child") == [
        "suspended", "resumed", "attempt", "recovered", "suspended", "resumed", "attempt",
        "recovered",
      ])
    #expect(scene.host.tally.open == 2)
  }

  @Test func dependingOnItselfIsRefused() throws {
    try scene.run { [scene] in
      try await scene.supervisor.add(scene.link("x", parents: ["y"]))
      await #expect(throws: AppError.self) {
        try await scene.supervisor.add(scene.link("y", parents: ["x"]))
      }
      await #expect(throws: AppError.self) {
        try await scene.supervisor.add(scene.link("x"))
      }
    }
  }

  @Test func aClosedConnectionLeavesNothingBehind() throws {
    try start(scene.link(liveness: LivenessPolicy()))
    try scene.run { [scene, id] in await scene.supervisor.close(id) }
    try scene.pass(.seconds(2))
    #expect(scene.host.tally.open == 0)
    #expect(scene.clock.sleeperCount == 0)
    let state = try scene.run { [scene, id] in await scene.supervisor.state(of: id) }
    #expect(state == nil)
  }

  @Test func shuttingDownEndsTheEvents() throws {
    try start(scene.link())
    let ended = EventRecorder<Bool>()
    let events = scene.supervisor.events()
    Task(executorPreference: scene.executor) {
      for await _ in events {}
      ended.record(true)
    }
    try scene.run { [scene] in await scene.supervisor.shutDown() }
    try scene.pass(.seconds(2))
    #expect(ended.events == [true])
  }

  /// A reader that waits for the end of the events sees all that happens to the last connection.
  @Test func theEventsEndAfterTheLastUseOfAConnection() throws {
    let ended = EventRecorder<String>()
    var link = scene.link()
    link.onConnected = { [scene] _, _ in
      let clock = scene.clock
      try? await clock.sleep(until: clock.now + .seconds(3_600))
      // Canceled by now, and it takes its time even so.
      await Task(executorPreference: scene.executor) {
        try? await clock.sleep(until: clock.now + .seconds(5))
      }.value
      ended.record("use")
    }
    try start(link)
    let events = scene.supervisor.events()
    Task(executorPreference: scene.executor) {
      for await _ in events {}
      ended.record("events")
    }
    try scene.run { [scene] in await scene.supervisor.shutDown() }
    try scene.pass(.seconds(4))
    #expect(ended.events.isEmpty)
    try scene.pass(.seconds(2))
    #expect(ended.events == ["use", "events"])
  }

  /// Its first generation has the same number as the first of the one before.
  @Test func aLinkOfAUsedNameTakesNoTurnFromItsPredecessor() throws {
    let holds = { [scene] (name: String, seconds: Int) in
      { @Sendable (_: any Connection, generation: Int) async in
        scene.handedOver.record("\(name)#\(generation)")
        let clock = scene.clock
        // Canceled, and it takes its time even so.
        await Task(executorPreference: scene.executor) {
          try? await clock.sleep(until: clock.now + .seconds(seconds))
        }.value
      }
    }
    var old = scene.link()
    old.onConnected = holds("old", 12)
    try scene.run { [scene, old] in
      let link = try await scene.supervisor.add(old)
      _ = try await link.connection
      await link.close()
    }
    var new = scene.link()
    new.onConnected = holds("new", 60)
    try start(new)
    try scene.pass(.seconds(13))
    #expect(scene.handedOver.events == ["old#1", "new#1"])
    try scene.run { [scene] in await scene.host.cut() }
    try scene.pass(.seconds(2))
    #expect(scene.handedOver.events == ["old#1", "new#1"], "new#1 has not returned")
    try scene.pass(.seconds(6))
    #expect(scene.handedOver.events == ["old#1", "new#1", "new#2"])
  }

  @Test func aSilentPeerIsReplacedByASecondConnectionMadeMeanwhile() throws {
    let liveness = LivenessPolicy(keepalive: .seconds(1), switching: .free)
    try start(scene.link(liveness: liveness))
    try scene.pass(.milliseconds(100))
    try scene.run { [scene] in await scene.host.connections.first?.freeze() }
    try scene.pass(.milliseconds(1_350))
    #expect(scene.count("suspected") == 1)
    #expect(scene.host.tally.open == 2)
    try scene.pass(.seconds(12))
    #expect(scene.names(of: "a").contains("switched"))
    #expect(scene.handedOver.events == ["a#1", "a#2"])
    #expect(scene.host.tally.open == 1)
  }

  @Test func aCostlySwitchWaitsAndThePeerThatAnswersStays() throws {
    let liveness = LivenessPolicy(keepalive: .seconds(1), switching: .costly)
    try start(scene.link(liveness: liveness))
    try scene.pass(.milliseconds(100))
    scene.host.freeze()
    try scene.pass(.seconds(5))
    #expect(scene.names(of: "a").suffix(1) == ["attempt"])
    try scene.run { [scene] in await scene.host.thaw() }
    try scene.pass(.seconds(10))
    #expect(scene.names(of: "a").contains("cleared"))
    #expect(scene.handedOver.events == ["a#1"])
    #expect(scene.host.tally.open == 1)
  }

  @Test func healthComesAfterARoundTripAndTenSeconds() throws {
    try start(scene.link(liveness: LivenessPolicy()))
    try scene.pass(.seconds(9))
    #expect(scene.count("healthy") == 0)
    try scene.pass(.seconds(2))
    #expect(scene.count("healthy") == 1)
  }

  @Test func cancellingTheWaitForAConnectionEndsIt() throws {
    scene.host.answer = .hang
    try scene.run { [scene, id] in
      try await scene.supervisor.add(scene.link(retriesFirstDial: true))
      let waiting = Task(executorPreference: scene.executor) {
        do throws(AppError) {
          _ = try await scene.supervisor.connection(id)
          return AppError?.none
        } catch {
          return error
        }
      }
      try await scene.clock.sleep(until: scene.clock.now + .seconds(1))
      waiting.cancel()
      #expect(await waiting.value == .cancelled)
    }
  }

  /// What `connection(name)` throws, if it answers within a minute.
  private func refusal(of name: String) throws -> AppError? {
    let answers = EventRecorder<AppError>()
    let waiting = Task(executorPreference: scene.executor) { [scene] in
      do throws(AppError) {
        _ = try await scene.supervisor.connection(ConnectionID(name))
      } catch {
        answers.record(error)
      }
    }
    try scene.pass(.seconds(60))
    waiting.cancel()
    return answers.events.first
  }

  @Test func whoAsksForAChildOfWhatGaveUpIsToldWhatItGaveUpWith() throws {
    scene.host.answer = .rejectCredentials
    try scene.run { [scene] in
      try await scene.supervisor.add(scene.link("child", parents: ["a"]))
      try await scene.supervisor.add(scene.link())
    }
    let expected = AppError.sshAuthenticationFailed(method: "publickey")
    #expect(try refusal(of: "child") == expected)
    #expect(try refusal(of: "child") == expected)
  }

  @Test func whoAsksForALinkOfAHostWithAnotherKeyIsToldSo() throws {
    try start(scene.link("b"))
    scene.host.answer = .changeHostKey
    #expect(throws: AppError.self) { try start(scene.link()) }
    try scene.run { [scene] in await scene.host.cut() }
    #expect(try refusal(of: "b") == .sshHostKeyMismatch(host: "host"))
  }

  @Test func theEventsEndWithASupervisorThatWasNotShutDown() throws {
    let ended = EventRecorder<Bool>()
    do {
      let supervisor = Supervisor(clock: scene.clock, seed: 1, executor: scene.executor)
      let events = supervisor.events()
      Task(executorPreference: scene.executor) {
        for await _ in events {}
        ended.record(true)
      }
      #expect(scene.executor.drain() == .done)
    }
    #expect(scene.executor.drain() == .done)
    #expect(ended.events == [true])
  }
}
