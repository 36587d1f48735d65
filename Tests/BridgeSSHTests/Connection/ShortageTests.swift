import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Testing

/// In a process of its own, which has used up its descriptors.
@Suite(.timeLimit(.minutes(5))) struct ShortageTests {
  @Test func withoutDescriptorsThisMachineIsNamed() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let peer = try await ScriptedTCPPeer(.silent)
      let reactor = Reactor()
      let connection = stranger(to: peer.port, on: reactor)
      Descriptors.useUp()
      await expectShortage(of: connection, in: .dial)
      await connection.close()
      await reactor.stop()
      Descriptors.giveBack()
    }
  }

  /// The key file cannot be opened; another attempt may find descriptors again.
  @Test(arguments: ["file", "agent"])
  func withoutDescriptorsForAKeyTheKeyIsNotBlamed(source: String) async {
    await #expect(processExitsWith: .success) { [source] in
      ProcessLimit.begin()
      let server = try ScriptedSSHServer { client, _ in
        _ = try client.request()
        try client.refuse(goOnWith: "publickey")
        try client.listenToTheEnd()
      }
      let reactor = Reactor()
      var configuration = SSHConfiguration(
        user: "somebody",
        credentials: [source == "file" ? .keyFile("/etc/hostname") : .agent(socketPath: "/none")],
        hostKeys: .init(files: [], unknown: .ask))
      // Between the key exchange and the first credential.
      configuration.interaction.trust = { _ in
        Descriptors.useUp()
        return true
      }
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration,
        on: reactor)
      await expectShortage(of: connection, in: .authenticate)
      await connection.close()
      server.stop()
      await reactor.stop()
      Descriptors.giveBack()
    }
  }

  /// A file that another attempt can read must not end a supervised link for good.
  @Test func withoutDescriptorsForKnownHostsTheFileIsNotBlamed() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let reactor = Reactor()
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: 1),
        configuration: SSHConfiguration(
          user: "somebody", credentials: [.password(Secret("x"))],
          hostKeys: .init(files: ["/etc/hostname"], unknown: .refuse)),
        on: reactor)
      Descriptors.useUp()
      await expectShortage(of: connection, in: .resolve)
      await connection.close()
      await reactor.stop()
      Descriptors.giveBack()
    }
  }
}

/// Connecting fails for want of descriptors in `phase`, and another attempt may find some.
private func expectShortage(of connection: SSHConnection, in phase: ConnectionPhase) async {
  let error = await failure { try await connection.connect() }
  let context = await connection.lastFailure
  #expect(
    error
      == .sshConnectionFailed(
        host: "127.0.0.1", reason: "This machine has no file descriptors left."))
  #expect(context?.kind == .localResource)
  #expect(context?.phase == phase)
  #expect(error?.exitCode(in: context) == .busy)
}
