import BridgeErrors
import BridgeFaults
import BridgeSSH
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
  @Test(.timeLimit(.minutes(1))) func holdsForWhatAServerStillHas() async throws {
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
  @Test func everyCipherAndMACThatCanBeOfferedIsKnownToThePacketLayer() throws {
    let offer = AlgorithmOffer(library: LibraryVersion(1, 10, 0))
    for kind in [AlgorithmKind.cipherToServer, .cipherToClient] {
      #expect(offer[kind] == Cipher.all.filter(\.isStandard).map(\.name))
      for cipher in Cipher.all { _ = try offer.asking(for: [cipher.name], of: kind) }
    }
    for kind in [AlgorithmKind.macToServer, .macToClient] {
      #expect(offer[kind] == MessageAuthentication.all.filter(\.isStandard).map(\.name))
      for mac in MessageAuthentication.all { _ = try offer.asking(for: [mac.name], of: kind) }
    }
    for cipher in Cipher.all {
      for mac in MessageAuthentication.all {
        let protection = try #require(PacketProtection(cipher: cipher.name, mac: mac.name))
        #expect(protection.blockSize == cipher.blockSize && protection.macLength == mac.length)
      }
    }
    #expect(Set(Cipher.all.map(\.name)).count == Cipher.all.count)
    #expect(Set(Self.ciphers).isSubset(of: Cipher.all.map(\.name)))
    #expect(Set(Self.macs).isSubset(of: MessageAuthentication.all.map(\.name)))
  }

  @Test func aNameOutsideTheTablesIsNotGuessed() {
    for cipher in ["chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes512-ctr"] {
      #expect(PacketProtection(cipher: cipher, mac: "hmac-sha1") == nil, "\(cipher)")
    }
    #expect(PacketProtection(cipher: "aes128-ctr", mac: "umac-64@openssh.com") == nil)
  }
}
