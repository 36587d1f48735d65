import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

@Suite struct SupervisorStormTests {
  private let scene = Scene()

  @Test func twoHundredConnectionsComeBackToARestartedHostWithoutAStorm() throws {
    let links = (0..<200).map { scene.link("c\($0)") }
    try scene.run { [scene] in
      for link in links { try await scene.supervisor.add(link) }
      for link in links { _ = try await scene.supervisor.connection(link.id) }
    }
    #expect(scene.host.tally.mostUnauthenticated == 8)
    scene.host.answer = .refuse
    try scene.run { [scene] in await scene.host.cut() }
    let before = scene.host.tally.dials
    try scene.pass(.seconds(5))
    let whileDown = scene.host.tally.dials - before
    #expect(whileDown > 5 && whileDown < 200)
    scene.host.answer = .accept
    try scene.pass(.seconds(60))
    #expect(scene.host.tally.open == 200)
    #expect(scene.host.tally.mostUnauthenticated == 8)
    #expect(scene.host.tally.dials - before - whileDown <= 201)
    let shown = try scene.shown()
    #expect(shown == nil)
  }

  @Test func aHundredThousandErrorsAtOnceStayWithinTheBound() throws {
    try scene.run { [scene] in
      for number in 0..<100_000 {
        let error = AppError.invalidURL(string: "\(number % 1_000)")
        await scene.supervisor.report(error, source: "s\(number % 7)")
      }
      #expect(await scene.supervisor.waiting.count == RecoveryDefaults.queueCapacity - 1)
      #expect(await scene.supervisor.dropped > 0)
    }
  }
}
