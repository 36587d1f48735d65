import BridgeCommands
import BridgeTestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct SendGateTests {
  /// A caller that waits at `gate`.
  private func waiter(_ gate: SendGate, _ generation: Int) async throws -> Task<Bool, Never> {
    let before = gate.count
    let task = Task { await gate.pass(generation) }
    try await eventually { gate.count != before }
    return task
  }

  @Test func anOpenOneIsPassed() async throws {
    let gate = SendGate()
    #expect(await gate.pass(1))
    gate.open(for: 1)
    #expect(await gate.pass(1))
  }

  @Test func aShutOneIsPassedWhenItOpens() async throws {
    let gate = SendGate()
    gate.set(isShut: true)
    let waiters = [try await waiter(gate, 1), try await waiter(gate, 1)]
    gate.set(isShut: false)
    for waiter in waiters { #expect(await waiter.value) }
    #expect(gate.count == 0)
  }

  @Test func whoWaitedForAnOlderGenerationIsTurnedAway() async throws {
    let gate = SendGate()
    gate.set(isShut: true)
    let waiter = try await waiter(gate, 1)
    gate.open(for: 2)
    #expect(await !waiter.value)
    #expect(await !gate.pass(1))
    #expect(await gate.pass(2))
  }

  @Test func whoIsCancelledWaitsNoLonger() async throws {
    let gate = SendGate()
    gate.set(isShut: true)
    let waiter = try await waiter(gate, 1)
    waiter.cancel()
    #expect(await !waiter.value)
    #expect(gate.count == 0)
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return await gate.pass(1)
    }
    late.cancel()
    #expect(await !late.value)
  }
}
