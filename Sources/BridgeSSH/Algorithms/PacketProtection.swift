/// The effect of a cipher and a MAC on a packet's length on the wire (RFC 4253, 6).
package struct PacketProtection: Sendable, Equatable {
  /// The clear packet, with its length, is a multiple of this many bytes.
  package let blockSize: Int
  /// Bytes of the MAC behind each packet.
  package let macLength: Int

  /// Nil for a name that no offer can hold (`AlgorithmOffer`).
  package init?(cipher: String, mac: String) {
    guard let blockSize = Self.blockSize(of: cipher), let macLength = Self.macLength[mac] else {
      return nil
    }
    self.blockSize = blockSize
    self.macLength = macLength
  }

  /// crypt.c of libssh2.
  private static func blockSize(of cipher: String) -> Int? {
    switch cipher {
    case "blowfish-cbc", "cast128-cbc", "3des-cbc", "arcfour", "arcfour128": 8
    case _ where cipher.hasPrefix("aes") || cipher.hasPrefix("rijndael"): 16
    default: nil
    }
  }

  /// mac.c of libssh2.
  private static let macLength = [
    "hmac-sha2-512": 64, "hmac-sha2-256": 32, "hmac-sha1": 20, "hmac-sha1-96": 12,
    "hmac-md5": 16, "hmac-md5-96": 12, "hmac-ripemd160": 20, "hmac-ripemd160@openssh.com": 20,
  ]
}
