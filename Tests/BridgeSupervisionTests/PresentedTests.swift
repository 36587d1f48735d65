import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import Testing

/// `Supervisor.presented`: what is on the screen now.
@Suite struct PresentedTests {
  private let scene = Scene()

  /// A reader from now on; what it has seen.
  private func read() throws -> EventRecorder<[PresentedError]> {
    let seen = EventRecorder<[PresentedError]>()
    let states = try scene.run { [scene] in await scene.supervisor.presented() }
    Task(executorPreference: scene.executor) {
      for await state in states { seen.record(state) }
      seen.record([PresentedError(error: .cancelled)])
    }
    #expect(scene.executor.drain() == .done)
    return seen
  }

  private func countdowns(_ states: [[PresentedError]]) -> [Duration?] {
    states.compactMap(\.first).map { $0.plan?.at }
  }

  @Test func itBeginsWithThePresentState() throws {
    let empty = try read()
    #expect(empty.events.map(\.count) == [0])
    try scene.run { [scene] in
      await scene.supervisor.report(.agentBusy, source: "x")
      await scene.supervisor.report(.internalError(detail: "d"), source: "y")
    }
    let late = try read()
    #expect(late.events.map { $0.map(\.source) } == [["y", "x"]])
    #expect(empty.events.last?.map(\.source) == ["y", "x"], "most severe first")
  }

  @Test func aReaderThatIsBehindHasTheNewestStateOnly() throws {
    let states = try scene.run { [scene] in await scene.supervisor.presented() }
    let seen = try scene.run { [scene] in
      for number in 0..<5 { await scene.supervisor.report(.agentBusy, source: "\(number)") }
      var iterator = states.makeAsyncIterator()
      return await iterator.next()?.count
    }
    #expect(seen == 5)
  }

  @Test func theCountdownOfALinkEndsWithTheDial() throws {
    scene.host.answer = .refuse
    let seen = try read()
    try scene.run { [scene] in
      try await scene.supervisor.add(scene.link("a", retriesFirstDial: true))
    }
    try scene.pass(.seconds(30))
    let times = countdowns(seen.events).compactMap(\.self)
    #expect(times.contains(.seconds(1)) && times.contains(.zero))
    // While the port is refused the delays are one second at most, then it is dialed at once.
    #expect(zip(times, times.dropFirst()).contains { $0 == (.seconds(1), .zero) })
    #expect(times.allSatisfy { $0.components.attoseconds == 0 }, "whole seconds")
    scene.host.answer = .accept
    try scene.pass(.seconds(5))
    #expect(seen.events.last?.isEmpty == true, "it is up, and its entry is gone")
    let count = seen.events.count
    try scene.pass(.seconds(60))
    #expect(seen.events.count == count, "nothing changes while all is well")
  }

  @Test func whatWaitsForAPersonDoesNotCountDown() throws {
    scene.host.answer = .rejectCredentials
    let states = try read()
    try scene.run { [scene] in try await scene.supervisor.add(scene.link("a")) }
    try scene.pass(.seconds(1))
    #expect(states.events.last?.first?.error.caseName == "sshAuthenticationFailed")
    #expect(states.events.last?.first?.plan?.at == nil, "it waits for a person")
  }

  @Test func itEndsWithTheSupervisor() throws {
    let seen = try read()
    try scene.run { [scene] in await scene.supervisor.shutDown() }
    try scene.pass(.seconds(1))
    #expect(seen.events.last?.first?.error == .cancelled)
    let again = try read()
    #expect(again.events.map(\.count) == [0, 1], "the present state, then the end")
  }

  @Test func aCanceledReaderEnds() throws {
    let states = try scene.run { [scene] in await scene.supervisor.presented() }
    let seen = EventRecorder<Int>()
    let reader = Task(executorPreference: scene.executor) {
      for await state in states { seen.record(state.count) }
      seen.record(-1)
    }
    #expect(scene.executor.drain() == .done)
    reader.cancel()
    #expect(scene.executor.drain() == .done)
    #expect(seen.events == [0, -1])
  }

  @Test func aSupervisorThatIsReleasedEndsIt() async {
    var supervisor: Supervisor<ContinuousClock>? = Supervisor(clock: ContinuousClock())
    guard var states = await supervisor?.presented().makeAsyncIterator() else { return }
    #expect(await states.next()?.isEmpty == true)
    supervisor = nil
    #expect(await states.next() == nil)
  }
}
