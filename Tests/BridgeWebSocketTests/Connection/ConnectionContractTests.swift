import BridgeFaults
import BridgeTestKit
import BridgeWebSocket
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketConnectionContractTests {
  @Test func aWebSocketConnectionKeepsTheContract() async throws {
    let (peer, gone) = (
      try await ScriptedWebSocketPeer(.echo), try await ScriptedTCPPeer(.silent)
    )
    await gone.stop()
    let proxy = try await FaultProxy(to: peer.port)
    let contract = ConnectionContract(
      reachable: { try WebSocketConnection(to: "ws://127.0.0.1:\(proxy.port)/") },
      refused: { try WebSocketConnection(to: "ws://127.0.0.1:\(gone.port)/") },
      drop: { try await proxy.inject(.reset) })
    #expect(try await contract.violations() == [])
    await proxy.stop()
    await peer.stop()
  }
}
