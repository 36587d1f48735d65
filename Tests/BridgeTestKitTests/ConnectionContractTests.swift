import BridgeErrors
import BridgeTestKit
import BridgeTransport
import Testing

@Suite struct ConnectionContractTests {
  private let clock = ManualClock()

  private func violations(of contract: ConnectionContract) throws -> [String] {
    let executor = SeededExecutor(seed: 1)
    let result = EventRecorder<[String]>()
    Task(executorPreference: executor) {
      result.record((try? await contract.violations()) ?? ["it threw"])
    }
    #expect(executor.run(moving: clock) { !result.events.isEmpty } == .done)
    return try #require(result.events.first)
  }

  private func connection(to host: ScriptedHost) -> ScriptedConnection {
    host.connection(ConnectionID("a"), 1)
  }

  @Test func aScriptedConnectionKeepsTheContract() throws {
    let (open, closed) = (ScriptedHost(clock: clock), ScriptedHost(clock: clock))
    closed.answer = .refuse
    let contract = ConnectionContract(
      reachable: { connection(to: open) }, refused: { connection(to: closed) },
      drop: { await open.cut() })
    #expect(try violations(of: contract) == [])
  }

  /// Each with what it breaks: a suite that finds nothing would hold nothing.
  @Test func aTransportThatBreaksTheContractIsFound() throws {
    let host = ScriptedHost(clock: clock)
    host.answer = .unknownName
    let contract = ConnectionContract(
      reachable: { connection(to: host) }, refused: { connection(to: host) }, drop: {})
    let found = try violations(of: contract)
    #expect(found.contains("open() succeeds"))
    #expect(found.contains("a refused port is the failure kind refused"))
  }
}
