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

  // MARK: The request

  private static let blob = [UInt8](repeating: 7, count: 279)

  private func message(
    session: [UInt8] = [1, 2], number: UInt8 = 50, user: String = "ann", isSigned: UInt8 = 1,
    method: String = "rsa-sha2-256", blob: [UInt8] = blob, rest: [UInt8] = []
  ) -> [UInt8] {
    var writer = WireWriter()
    writer.string(session)
    writer.byte(number)
    for text in [user, "ssh-connection", "publickey"] { writer.string(text) }
    writer.byte(isSigned)
    writer.string(method)
    writer.string(blob)
    return writer.bytes + rest
  }

  @Test func onlyThisRequestIsSigned() throws {
    let request = try #require(RSARequest(user: "ann", blob: Self.blob))
    #expect(request.covers(message()))
    for other in [
      message(number: 51), message(user: "bob"), message(isSigned: 0), message(method: "ssh-rsa"),
      message(method: "rsa-sha2-512"), message(blob: [UInt8](repeating: 8, count: 279)),
      message(rest: [0]), Array(message().dropLast()), [],
    ] {
      #expect(!request.covers(other))
    }
    #expect(RSARequest(user: "ann", blob: [1, 2, 3]) == nil)
  }

  @Test func theKeyIsThereOnceThePacketIsAllocatedAndNotBefore() throws {
    let request = try #require(RSARequest(user: "ann", blob: Self.blob))
    let name = [0, 0, 0, 12] + Array("rsa-sha2-256".utf8)
    #expect(request.shown.prefix(16) == name[...] && request.shown.count == Self.blob.count)
    request.libraryAllocates(12)
    request.libraryAllocates(500)
    #expect(request.shown.prefix(16) == name[...])
    request.libraryAllocates(45 + 3 + 12 + 279 + 4 + 16 + 4 + 279)
    #expect(request.shown == Self.blob)
  }
}
