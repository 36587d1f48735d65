import BridgeErrors
import BridgeFaults
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

@testable import BridgeSSH

/// Logins at a server that knows no key of the user, but an authority that has signed one.
@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
  /// Runs `body` with a server that trusts an authority, and a folder for keys.
  private func withAuthority(
    _ body: (SSHServer, TemporaryDirectory) async throws -> Void
  ) async throws {
    let folder = try TemporaryDirectory()
    try KeyGen.run("-q", "-t", "ed25519", "-N", "", "-f", folder.file("ca"))
    var configuration = SSHServerConfiguration()
    configuration.lines = ["TrustedUserCAKeys \(folder.file("ca.pub"))"]
    try await withServer(configuration) { server in try await body(server, folder) }
  }

  /// The file of a key, which the authority has signed for `user`.
  private func certifiedKey(
    _ type: SSHKeyType, for user: String, in folder: TemporaryDirectory, passphrase: String = ""
  ) throws -> String {
    let path = folder.file("key")
    try KeyGen.run("-q", "-t", type.rawValue, "-N", passphrase, "-a", "4", "-f", path)
    try KeyGen.run("-q", "-s", folder.file("ca"), "-I", "ann", "-n", user, "\(path).pub")
    return path
  }

  private func connection(
    to server: SSHServer, _ credentials: [SSHCredential], passphrase: String? = nil
  ) -> SSHConnection {
    SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: server.user, credentials: credentials, hostKeys: .anyKey,
        interaction: SSHInteraction(passphrase: { _ in passphrase.map { Secret($0) } })))
  }

  private func expectCommand(_ connection: SSHConnection) async throws {
    try await connection.connect()
    let command = try await connection.execute("exit 3")
    #expect(try await command.exitStatus() == .status(3))
    await connection.close()
  }

  /// As they are issued again each day, for another key too; a forced command is another way in.
  @Test func whatItGrantsTellsOneFromAnother() async throws {
    try await withAuthority { server, folder in
      func admission(_ type: SSHKeyType, _ options: String...) async throws -> String? {
        let key = folder.file("\(UUID())")
        try KeyGen.run("-q", "-t", type.rawValue, "-N", "", "-f", key)
        let authority = ["-q", "-s", folder.file("ca"), "-I", "ann", "-n", server.user]
        _ = try Program.run(KeyGen.path, authority + options + ["\(key).pub"])
        let connection = connection(to: server, [.keyFile(key)])
        try await connection.connect()
        await connection.close()
        return connection.admission
      }
      let first = try await admission(.ed25519)
      #expect(first?.hasPrefix("certificate:") == true)
      #expect(try await admission(.rsa, "-z", "7", "-V", "+1h") == first)
      #expect(try await admission(.ed25519, "-O", "force-command=true") != first)
      #expect(try await admission(.ed25519, "-n", "\(server.user),other") != first)
    }
  }

  @Test(arguments: SSHKeyType.allCases, ["", "open sesame"])
  func theOneBesideTheKeyOpensTheDoor(_ type: SSHKeyType, _ passphrase: String) async throws {
    try await withAuthority { server, folder in
      let key = try certifiedKey(type, for: server.user, in: folder, passphrase: passphrase)
      try await expectCommand(
        connection(
          to: server, [.keyFile(key)], passphrase: passphrase.isEmpty ? nil : passphrase))
      #expect(await server.log.contains("ID ann"))
    }
  }

  /// Asked for once where it is right, and as often as for a key alone where it is not.
  @Test(arguments: [false, true], ["open sesame", "wrong"])
  func itsPassphraseIsAskedForOnce(_ isNamed: Bool, _ answer: String) async throws {
    try await withAuthority { server, folder in
      let key = try certifiedKey(
        .ed25519, for: server.user, in: folder, passphrase: "open sesame")
      let asked = Inbox<String>()
      let named: [SSHCredential] = isNamed ? [.certificateFile("\(key)-cert.pub")] : []
      var configuration = SSHConfiguration(
        user: server.user, credentials: [.keyFile(key)] + named, hostKeys: .anyKey,
        interaction: SSHInteraction(passphrase: { path in
          await asked.add(path)
          return Secret(answer)
        }))
      // What a memory of right answers learns from.
      let facts = Mutex([OfferFact]())
      configuration.observer = { fact in
        if case .offered(let offer) = fact { facts.withLock { $0.append(offer) } }
      }
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      guard answer != "wrong" else {
        await expectFailure(
          of: connection,
          ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable))
        return #expect(await asked.all == [key, key, key])
      }
      try await expectCommand(connection)
      #expect(await asked.all == [key])
      let last = facts.withLock(\.last)
      #expect(last?.credential == .keyFile(key) && last?.outcome == .accepted)
    }
  }

  @Test(arguments: SSHKeyType.allCases) func soDoesThatOfAnAgent(_ type: SSHKeyType) async throws {
    try await withAuthority { server, folder in
      let key = try certifiedKey(type, for: server.user, in: folder)
      // ssh-add takes the certificate as well.
      try await withAgent([key]) { socket in
        try await expectCommand(connection(to: server, [.agent(socketPath: socket)]))
      }
    }
  }

  /// The agent has the key alone, and signs: no passphrase is asked for.
  @Test func theAgentSignsForTheOneBesideTheFile() async throws {
    try await withAuthority { server, folder in
      let key = try certifiedKey(.ed25519, for: server.user, in: folder)
      let certificate = try Data(contentsOf: URL(filePath: "\(key)-cert.pub"))
      try FileManager.default.removeItem(atPath: "\(key)-cert.pub")
      try await withAgent([key]) { socket in
        try KeyGen.run("-q", "-p", "-P", "", "-N", "unknown", "-a", "4", "-f", key)
        try certificate.write(to: URL(filePath: "\(key)-cert.pub"))
        try await expectCommand(
          connection(to: server, [.agent(socketPath: socket, preferring: [key]), .keyFile(key)]))
      }
    }
  }

  /// As OpenSSH finds it, in the place of the public key.
  @Test func oneThatIsThePublicKeyOfAFileIsOffered() async throws {
    try await withAuthority { server, folder in
      let key = try certifiedKey(.ed25519, for: server.user, in: folder)
      try FileManager.default.removeItem(atPath: "\(key).pub")
      try FileManager.default.moveItem(atPath: "\(key)-cert.pub", toPath: "\(key).pub")
      try await expectCommand(connection(to: server, [.keyFile(key)]))
    }
  }

  /// As CertificateFile names it: with the key of a file, or that of an agent.
  @Test(arguments: [false, true]) func aNamedOneIsTheFirstToBeOffered(_ byAgent: Bool) async throws
  {
    try await withAuthority { server, folder in
      let key = try certifiedKey(.rsa, for: server.user, in: folder)
      let named = folder.file("named")
      try FileManager.default.moveItem(atPath: "\(key)-cert.pub", toPath: named)
      try await withAgent(byAgent ? [key] : []) { socket in
        let keys: [SSHCredential] = byAgent ? [.agent(socketPath: socket)] : [.keyFile(key)]
        try await expectCommand(connection(to: server, keys + [.certificateFile(named)]))
      }
      #expect(await server.failures("publickey") == 0)
    }
  }

  @Test(arguments: ["missing", "key.pub", "key-cert.pub"])
  func aNamedOneThatCannotBeUsedIsSaid(_ name: String) async throws {
    try await withAuthority { server, folder in
      _ = try certifiedKey(.ed25519, for: server.user, in: folder)
      let error = await expectFailure(
        of: connection(to: server, [.certificateFile(folder.file(name))]),
        ExpectedFailure(.keyUnusable, in: .authenticate, exit: .keyUnusable))
      let says =
        name == "key-cert.pub" ? "No key file, and no ssh-agent" : "no certificate of a user"
      #expect("\(error)".contains(says))
    }
  }

  /// Of another user, of a host, of another key, none at all: the login goes on without it.
  @Test(arguments: ["other", "host", "foreign", "damaged"])
  func oneOfNoUseIsPassedOver(_ what: String) async throws {
    try await withAuthority { server, folder in
      let key = try certifiedKey(
        .ed25519, for: what == "other" ? "another" : server.user, in: folder)
      let file = URL(filePath: "\(key)-cert.pub")
      switch what {
      case "host":
        try KeyGen.run(
          "-q", "-s", folder.file("ca"), "-I", "ann", "-h", "-n", server.user, "\(key).pub")
      case "foreign":
        try KeyGen.run("-q", "-t", "ed25519", "-N", "", "-f", folder.file("second"))
        try KeyGen.run(
          "-q", "-s", folder.file("ca"), "-I", "ann", "-n", server.user, folder.file("second.pub"))
        try Data(contentsOf: URL(filePath: folder.file("second-cert.pub"))).write(to: file)
      case "damaged": try Data("ssh-ed25519-cert-v01@openssh.com AAAA\n".utf8).write(to: file)
      case _: break
      }
      await expectFailure(
        of: connection(to: server, [.keyFile(key)]),
        ExpectedFailure(.authenticationRefused, in: .authenticate, exit: .refused))
      #expect(await server.failures("publickey") == (what == "other" ? 2 : 1))
    }
  }

  /// A key on a FIDO device signs through an agent, with its flags and its counter (PROTOCOL.u2f).
  @Test func soDoesASecurityKeyOfAnAgent() async throws {
    try await withServer { server in
      let folder = try TemporaryDirectory()
      let file = try await server.makeIdentity(.ed25519, name: "device", isAuthorized: false)
      guard case .success(let info) = KeyFile.read(file),
        case .key(let device) = PrivateKey.read(file, info, passphrase: nil)
      else {
        Issue.record("no key")
        return
      }
      let (type, application) = ("sk-ssh-ed25519@openssh.com", Array("ssh:".utf8))
      var blob = WireWriter()
      blob.string(type)
      blob.string(device.blob.suffix(32))
      blob.string(application)
      let line = "\(type) \(Base64.encode(blob.bytes))\n"
      let folderOfServer = URL(filePath: server.identityFile).deletingLastPathComponent()
      try Data(line.utf8).write(to: folderOfServer.appending(path: "authorized_keys"))
      let agent = try ScriptedAgent(
        in: folder, list: .bytes(ScriptedAgent.identities([blob.bytes])),
        sign: .signature { message in
          let touched: [UInt8] = [1, 0, 0, 0, 9]
          var signature = WireWriter()
          signature.string(type)
          signature.string(
            device.sign(Digest.sha256(application) + touched + Digest.sha256(message)) ?? [])
          return signature.bytes + touched
        })
      try await expectCommand(connection(to: server, [.agent(socketPath: agent.path)]))
      #expect(await server.log.contains("ED25519-SK"))
      agent.stop()
    }
  }

  @Test func aCertificateCutAnywhereIsNone() throws {
    let folder = try TemporaryDirectory()
    try KeyGen.run("-q", "-t", "ed25519", "-N", "", "-f", folder.file("ca"))
    let key = try certifiedKey(.ecdsa, for: "ann", in: folder)
    let words = try String(contentsOfFile: "\(key)-cert.pub", encoding: .utf8).split(separator: " ")
    let blob = Array(try #require(Data(base64Encoded: String(words[1]))))
    let certificate = try #require(UserCertificate(blob: blob))
    let plain = try String(contentsOfFile: "\(key).pub", encoding: .utf8).split(separator: " ")
    #expect(Data(certificate.key) == Data(base64Encoded: String(plain[1])))
    // The rest is for the server.
    let read = certificate.key.count + 4 + 32 + 8 + 4 + 21
    for count in 0..<read { #expect(UserCertificate(blob: Array(blob.prefix(count))) == nil) }
  }
}
