/// A cipher of libssh2: one row, which the offer and the packet layer read.
package struct Cipher: Sendable, Equatable {
  /// The name in a key exchange.
  package let name: String
  /// The clear packet, with its length, is a multiple of this many bytes.
  package let blockSize: Int
  /// Whether it is offered without being asked for by name.
  package let isStandard: Bool

  private init(_ name: String, block: Int, isStandard: Bool = false) {
    self.name = name
    blockSize = block
    self.isStandard = isStandard
  }

  /// All that libssh2 1.10 has (crypt.c), best first. None is an AEAD: a packet is protected by a
  /// cipher and a MAC.
  package static let all = [
    Cipher("aes128-ctr", block: 16, isStandard: true),
    Cipher("aes192-ctr", block: 16, isStandard: true),
    Cipher("aes256-ctr", block: 16, isStandard: true),
    Cipher("aes256-cbc", block: 16),
    Cipher("rijndael-cbc@lysator.liu.se", block: 16),
    Cipher("aes192-cbc", block: 16),
    Cipher("aes128-cbc", block: 16),
    Cipher("blowfish-cbc", block: 8),
    Cipher("arcfour128", block: 8),
    Cipher("arcfour", block: 8),
    Cipher("cast128-cbc", block: 8),
    Cipher("3des-cbc", block: 8),
  ]

  /// The names of those that are offered by themselves, or of those that are not.
  static func names(standard isStandard: Bool) -> [String] {
    all.filter { $0.isStandard == isStandard }.map(\.name)
  }
}

/// A MAC of libssh2: one row, which the offer and the packet layer read.
package struct MessageAuthentication: Sendable, Equatable {
  /// The name in a key exchange.
  package let name: String
  /// Bytes of the MAC behind each packet.
  package let length: Int
  /// Whether it is offered without being asked for by name.
  package let isStandard: Bool

  private init(_ name: String, length: Int, isStandard: Bool = false) {
    self.name = name
    self.length = length
    self.isStandard = isStandard
  }

  /// All that libssh2 1.10 has (mac.c), best first.
  package static let all = [
    MessageAuthentication("hmac-sha2-256", length: 32, isStandard: true),
    MessageAuthentication("hmac-sha2-512", length: 64, isStandard: true),
    MessageAuthentication("hmac-sha1", length: 20),
    MessageAuthentication("hmac-sha1-96", length: 12),
    MessageAuthentication("hmac-md5", length: 16),
    MessageAuthentication("hmac-md5-96", length: 12),
    MessageAuthentication("hmac-ripemd160", length: 20),
    MessageAuthentication("hmac-ripemd160@openssh.com", length: 20),
  ]

  /// The names of those that are offered by themselves, or of those that are not.
  static func names(standard isStandard: Bool) -> [String] {
    all.filter { $0.isStandard == isStandard }.map(\.name)
  }
}
