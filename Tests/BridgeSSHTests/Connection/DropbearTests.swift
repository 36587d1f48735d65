import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// A second opinion on servers: everything up to the refusal of the login.
@Suite(.timeLimit(.minutes(5))) struct DropbearTests {
  @Test(arguments: [SSHKeyType.ed25519, .ecdsa])
  func itsKeyIsCheckedAndItsRefusalTold(type: SSHKeyType) async throws {
    let server = try await DropbearServer(hostKey: type)
    let directory = try TemporaryDirectory()
    let key = directory.file("key")
    try KeyGen.run("-q", "-t", "ed25519", "-N", "", "-f", key)
    try await directory.write(server.knownHosts, to: "known_hosts")
    func connection(_ files: [String]) -> SSHConnection {
      SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(
          user: "root", credentials: [.keyFile(key)],
          hostKeys: .init(files: files, unknown: .refuse)))
    }
    let error = await expectFailure(
      of: connection([directory.file("known_hosts")]),
      ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
    #expect(error == .sshAuthenticationFailed(method: "publickey"))
    await expectFailure(
      of: connection([]), ExpectedFailure(.hostKeyUnknown, in: .hostKey, exit: .hostIdentity))
    await server.stop()
    await expectFailure(
      of: connection([]), ExpectedFailure(.refused, in: .dial, exit: .unreachable))
  }

  /// libssh2 1.11 verifies such a key.
  @Test(.enabled(if: !LibraryVersion.linked.hasRSAWithSHA2)) func anRSAKeyOnlyIsNamed() async throws
  {
    let server = try await DropbearServer(hostKey: .rsa)
    let error = await expectFailure(
      of: stranger(to: server.port),
      ExpectedFailure(.algorithmMismatch, in: .keyExchange, exit: .protocolBroken))
    #expect("\(error)".contains("only RSA host keys"))
    await server.stop()
  }
}
