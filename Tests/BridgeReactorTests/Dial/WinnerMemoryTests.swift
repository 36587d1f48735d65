import BridgeReactor
import BridgeTransport
import Testing

@Suite struct WinnerMemoryTests {
  private static func endpoint(_ port: Int) -> Endpoint { Endpoint(host: "host", port: port) }

  @Test func theLastWinnerIsRemembered() {
    var memory = WinnerMemory()
    #expect(memory.winner(at: Self.endpoint(1)) == nil)
    memory.remember(.v4(1), at: Self.endpoint(1))
    memory.remember(.v4(2), at: Self.endpoint(1))
    #expect(memory.winner(at: Self.endpoint(1)) == .v4(2))
    #expect(memory.winner(at: Self.endpoint(2)) == nil)
  }

  @Test func aWinnerCanBeForgotten() {
    var memory = WinnerMemory()
    memory.remember(.v4(1), at: Self.endpoint(1))
    memory.remember(nil, at: Self.endpoint(1))
    #expect(memory.winner(at: Self.endpoint(1)) == nil)
  }

  @Test func beyondTheCapacityTheOldestIsForgotten() {
    var memory = WinnerMemory(capacity: 2)
    memory.remember(.v4(1), at: Self.endpoint(1))
    memory.remember(.v4(2), at: Self.endpoint(2))
    memory.remember(.v4(11), at: Self.endpoint(1))
    memory.remember(.v4(3), at: Self.endpoint(3))
    #expect(memory.winner(at: Self.endpoint(1)) == .v4(11))
    #expect(memory.winner(at: Self.endpoint(2)) == nil)
    #expect(memory.winner(at: Self.endpoint(3)) == .v4(3))
  }
}
