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

  @Test func knowsAllThatCanBeAskedFor() throws {
    let offer = AlgorithmOffer(library: LibraryVersion(1, 10, 0))
    for cipher in Self.ciphers + ["rijndael-cbc@lysator.liu.se"] {
      _ = try offer.asking(for: [cipher], of: .cipherToClient)
      let size = cipher == "3des-cbc" ? 8 : 16
      #expect(PacketProtection(cipher: cipher, mac: "hmac-sha2-256")?.blockSize == size)
    }
    for cipher in ["blowfish-cbc", "cast128-cbc", "arcfour", "arcfour128"] {
      _ = try offer.asking(for: [cipher], of: .cipherToClient)
      #expect(PacketProtection(cipher: cipher, mac: "hmac-sha2-256")?.blockSize == 8)
    }
    for mac in Self.macs + ["hmac-ripemd160", "hmac-ripemd160@openssh.com"] {
      _ = try offer.asking(for: [mac], of: .macToClient)
      #expect(PacketProtection(cipher: "aes128-ctr", mac: mac) != nil, "\(mac)")
    }
    #expect(PacketProtection(cipher: "chacha20-poly1305@openssh.com", mac: "hmac-sha1") == nil)
    #expect(PacketProtection(cipher: "aes128-ctr", mac: "umac-64@openssh.com") == nil)
  }
}
