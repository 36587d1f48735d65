import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

struct PacketProtectionTests {
  /// What can be asked for by name (`AlgorithmOffer.asking`) and sshd still has.
  private static let ciphers = [
    "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-cbc", "aes192-cbc", "aes256-cbc", "3des-cbc",
  ]
  private static let macs = [
    "hmac-sha2-256", "hmac-sha2-512", "hmac-sha1", "hmac-sha1-96", "hmac-md5", "hmac-md5-96",
  ]

  /// A wrong length in the table would refuse the first encrypted packet.
  @Test(.timeLimit(.minutes(5))) func holdsForWhatAServerStillHas() async throws {
    var server = SSHServerConfiguration()
    server.ciphers = Self.ciphers.joined(separator: ",")
    server.messageAuthenticationCodes = Self.macs.joined(separator: ",")
    server.rekeyLimit = "64K"
    let pairs =
      Self.ciphers.map { ($0, "hmac-sha2-256") } + Self.macs.map { ("3des-cbc", $0) }
    try await withServer(server) { server in
      for (cipher, mac) in pairs {
        var configuration = trusting(server)
        configuration.algorithms = try configuration.algorithms
          .asking(for: [cipher], of: .cipherToClient).asking(for: [mac], of: .macToClient)
        try await withConnection(to: server, configuration) { connection in
          let command = try await connection.execute("head -c 300000 /dev/zero")
          let output = try await text(command.standardOutput)
          #expect(output.utf8.count == 300_000, "\(cipher) \(mac)")
        }
      }
    }
  }

  /// A name that the offer has and the packet layer has not would be taken for a damaged packet.
  @Test(arguments: [LibraryVersion(1, 10, 0), LibraryVersion(1, 11, 1)])
  func everyCipherAndMACThatCanBeOfferedIsKnownToThePacketLayer(library: LibraryVersion) throws {
    let offer = AlgorithmOffer(library: library)
    let ciphers = Cipher.all.filter { $0.integrated == nil || library.hasModernProtection }
    let macs = MessageAuthentication.all
      .filter { !$0.isOfCiphertext || library.hasModernProtection }
    for kind in [AlgorithmKind.cipherToServer, .cipherToClient] {
      #expect(offer[kind] == Cipher.all.filter(\.isStandard).map(\.name))
      for cipher in ciphers { _ = try offer.asking(for: [cipher.name], of: kind) }
    }
    for kind in [AlgorithmKind.macToServer, .macToClient] {
      #expect(offer[kind] == MessageAuthentication.all.filter(\.isStandard).map(\.name))
      for mac in macs { _ = try offer.asking(for: [mac.name], of: kind) }
    }
    #expect(Set(Cipher.all.map(\.name)).count == Cipher.all.count)
    #expect(Set(Self.ciphers).isSubset(of: Cipher.all.map(\.name)))
    #expect(Set(Self.macs).isSubset(of: MessageAuthentication.all.map(\.name)))
  }

  @Test func aPacketHasTheBlocksOfItsCipherAndTheLengthOfItsMAC() throws {
    for cipher in Cipher.all {
      for mac in MessageAuthentication.all {
        let protection = try #require(PacketProtection(cipher: cipher.name, mac: mac.name))
        #expect(protection.blockSize == cipher.blockSize)
        #expect(protection.macLength == (cipher.integrated == nil ? mac.length : 16))
        #expect((protection.layout == .gcm) == (cipher.integrated == .gcm))
        #expect((protection.layout == .chachaPoly) == (cipher.integrated == .chachaPoly))
        #expect(
          (protection.layout == .macOfCiphertext)
            == (cipher.integrated == nil && mac.isOfCiphertext))
      }
      // What libssh2 calls the MAC of AES-GCM.
      let integrated = PacketProtection(cipher: cipher.name, mac: "INTEGRATED-AES-GCM")
      #expect((integrated != nil) == (cipher.integrated != nil))
    }
  }

  /// An old library would take such a name for none, and the server for another.
  @Test func whatOnlyANewerLibraryHasCannotBeAskedOfAnOldOne() {
    let offer = AlgorithmOffer(library: LibraryVersion(1, 10, 0))
    for cipher in Cipher.all where cipher.integrated != nil {
      #expect(throws: AppError.self) { try offer.asking(for: [cipher.name], of: .cipherToClient) }
      #expect(!offer.available(.cipherToServer).contains(cipher.name))
    }
    for mac in MessageAuthentication.all where mac.isOfCiphertext {
      #expect(throws: AppError.self) { try offer.asking(for: [mac.name], of: .macToClient) }
      #expect(!offer.available(.macToServer).contains(mac.name))
    }
  }

  @Test func aNameOutsideTheTablesIsNotGuessed() {
    #expect(PacketProtection(cipher: "aes512-ctr", mac: "hmac-sha1") == nil)
    #expect(PacketProtection(cipher: "aes128-ctr", mac: "umac-64@openssh.com") == nil)
  }

  /// One direction's cipher decides how libssh2 1.11 treats the packets of both.
  @Test func anAEADInOneDirectionOnlyIsNotDialed() async throws {
    let offer = AlgorithmOffer(library: LibraryVersion(1, 11, 1))
    let both = "aes128-gcm@openssh.com"
    let one = try offer.asking(for: [both], of: .cipherToClient)
    #expect(one.isLopsided)
    #expect(try !one.asking(for: [both], of: .cipherToServer).isLopsided)
    #expect(try !offer.asking(for: ["aes256-ctr"], of: .cipherToClient).isLopsided)
    try await withServer { server in
      var configuration = trusting(server)
      configuration.algorithms = one
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      let error = await failure { try await connection.connect() }
      guard case .sshAlgorithmMismatch(_, let detail)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(detail.contains("the same ciphers both ways"))
    }
  }
}
