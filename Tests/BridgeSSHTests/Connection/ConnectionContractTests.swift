import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SSHConnectionContractTests {
  @Test func anSSHConnectionKeepsTheContract() async throws {
    try await withServer { server in
      let gone = try await ScriptedTCPPeer(.silent)
      await gone.stop()
      let proxy = try await FaultProxy(to: server.port)
      let contract = ConnectionContract(
        reachable: {
          SSHConnection(
            to: .init(host: "127.0.0.1", port: proxy.port), configuration: trusting(server))
        },
        refused: { stranger(to: gone.port) },
        drop: { try await proxy.inject(.reset) })
      #expect(try await contract.violations() == [])
      await proxy.stop()
    }
  }
}
