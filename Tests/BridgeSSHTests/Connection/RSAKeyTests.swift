import BridgeErrors
import BridgeFaults
import BridgeTransport
import Foundation
import Testing

@testable import BridgeSSH

/// RSA keys sign by rsa-sha2-256, whatever libssh2 can do.
@Suite(.timeLimit(.minutes(5))) struct RSAKeyTests {
  private func connection(
    to port: Int, _ user: String, _ credentials: [SSHCredential], passphrase: String? = nil
  ) -> SSHConnection {
    let interaction = SSHInteraction(passphrase: { _ in passphrase.map { Secret($0) } })
    return SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port),
      configuration: SSHConfiguration(
        user: user, credentials: credentials, hostKeys: .anyKey, interaction: interaction))
  }

  private func expectCommand(_ connection: SSHConnection, _ what: String) async throws {
    do {
      try await connection.connect()
      let command = try await connection.execute("exit 3")
      #expect(try await command.exitStatus() == .status(3), "\(what)")
    } catch {
      Issue.record("\(what): \(error) \(String(describing: await connection.lastFailure))")
    }
    await connection.close()
  }

  private static let forms = ["RFC4716", "PEM", "PKCS8"].flatMap { format in
    ["", "open sesame"].map { (format, $0) }
  }

  @Test(arguments: forms) func aKeyFileOpensTheDoor(format: String, passphrase: String) async throws
  {
    try await withServer { server in
      let key = try await server.makeIdentity(.rsa, name: "rsa", isAuthorized: true)
      try KeyGen.run(
        "-q", "-p", "-m", format, "-a", "4", "-P", "", "-N", passphrase, "-f", key)
      let connection = connection(
        to: server.port, server.user, [.keyFile(key)],
        passphrase: passphrase.isEmpty ? nil : passphrase)
      try await expectCommand(connection, "\(format) \(passphrase)")
      #expect(await server.log.contains("RSA SHA256:"))
      guard !passphrase.isEmpty else { return }
      let error = await expectFailure(
        of: self.connection(to: server.port, server.user, [.keyFile(key)], passphrase: "wrong"),
        ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable))
      #expect(error == .sshKeyInvalid(reason: "The passphrase does not open the key file."))
    }
  }

  @Test func dropbearTakesItToo() async throws {
    guard await SSHServer.canReplacePasswords() else { return }
    let server = try await DropbearServer(admits: true, identity: .rsa)
    let key = try #require(server.identityFile)
    try await expectCommand(connection(to: server.port, server.user, [.keyFile(key)]), "dropbear")
    await server.stop()
  }

  @Test func aServerWithoutTheMethodIsNamedWithTheKeyToUse() async throws {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["PubkeyAcceptedAlgorithms ssh-rsa,ssh-ed25519"]
    try await withServer(configuration) { server in
      let key = try await server.makeIdentity(.rsa, name: "rsa", isAuthorized: true)
      let connection = connection(to: server.port, server.user, [.keyFile(key)])
      let error = await expectFailure(
        of: connection,
        ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
      #expect(error == .sshAuthenticationFailed(method: "publickey"))
      let told = String(describing: await connection.lastFailure)
      #expect(told.contains("rsa-sha2-256") && told.contains("ed25519"))
      let log = await server.log
      #expect(!log.contains("key type ssh-rsa "), "SHA-1 is never tried")
    }
  }
}
