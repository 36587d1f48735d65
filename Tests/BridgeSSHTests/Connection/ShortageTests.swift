import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import Testing

/// In a process of its own, which has used up its descriptors.
@Suite(.timeLimit(.minutes(1))) struct ShortageTests {
  @Test func withoutDescriptorsThisMachineIsNamed() async {
    await #expect(processExitsWith: .success) {
      let peer = try await ScriptedTCPPeer(.silent)
      let reactor = Reactor()
      let connection = stranger(to: peer.port, on: reactor)
      Descriptors.useUp()
      let error = await failure { try await connection.connect() }
      let context = await connection.lastFailure
      #expect(
        error
          == .sshConnectionFailed(
            host: "127.0.0.1", reason: "This machine has no file descriptors left."))
      #expect(context?.kind == .localResource)
      #expect(context?.phase == .dial)
      #expect(error?.exitCode(in: context) == .busy)
      await connection.close()
      await reactor.stop()
      Descriptors.giveBack()
    }
  }
}
