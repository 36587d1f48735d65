/// A cipher of libssh2: one row, which the offer and the packet layer read.
package struct Cipher: Sendable, Equatable {
  /// The protection that a cipher needs no MAC for (AEAD).
  package enum Integrated: Sendable, Equatable {
    /// AES-GCM (RFC 5647, as OpenSSH has it): the length is in clear.
    case gcm
    /// ChaCha20-Poly1305 (PROTOCOL.chacha20poly1305 of OpenSSH): the length has a key of its own.
    case chachaPoly
  }

  /// The name in a key exchange.
  package let name: String
  /// The clear packet, with its length or without, is a multiple of this many bytes.
  package let blockSize: Int
  /// Whether it is offered without being asked for by name.
  package let isStandard: Bool
  /// How it protects a packet by itself; nil for one that takes a MAC.
  package let integrated: Integrated?

  private init(
    _ name: String, block: Int, isStandard: Bool = false, integrated: Integrated? = nil
  ) {
    self.name = name
    blockSize = block
    self.isStandard = isStandard
    self.integrated = integrated
  }

  /// All that libssh2 1.11.1 has (crypt.c), best first; 1.10 has no AEAD.
  package static let all = [
    Cipher("aes128-ctr", block: 16, isStandard: true),
    Cipher("aes192-ctr", block: 16, isStandard: true),
    Cipher("aes256-ctr", block: 16, isStandard: true),
    Cipher("chacha20-poly1305@openssh.com", block: 8, integrated: .chachaPoly),
    Cipher("aes256-gcm@openssh.com", block: 16, integrated: .gcm),
    Cipher("aes128-gcm@openssh.com", block: 16, integrated: .gcm),
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

  /// The cipher called `name`; nil for one that no offer can hold.
  package static func named(_ name: String) -> Cipher? { all.first { $0.name == name } }

  /// The names of those that `library` has and that are offered by themselves, or of those that
  /// are not.
  static func names(standard isStandard: Bool, in library: LibraryVersion) -> [String] {
    all.filter { $0.isStandard == isStandard && $0.isIn(library) }.map(\.name)
  }

  private func isIn(_ library: LibraryVersion) -> Bool {
    integrated == nil || library.hasModernProtection
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

  /// Whether it is that of the encrypted packet, whose length is in clear (encrypt-then-MAC).
  package var isOfCiphertext: Bool { name.contains("-etm@") }

  /// All that libssh2 1.11.1 has (mac.c), best first; 1.10 has none of the ciphertext.
  package static let all = [
    MessageAuthentication("hmac-sha2-256", length: 32, isStandard: true),
    MessageAuthentication("hmac-sha2-512", length: 64, isStandard: true),
    MessageAuthentication("hmac-sha2-256-etm@openssh.com", length: 32),
    MessageAuthentication("hmac-sha2-512-etm@openssh.com", length: 64),
    MessageAuthentication("hmac-sha1-etm@openssh.com", length: 20),
    MessageAuthentication("hmac-sha1", length: 20),
    MessageAuthentication("hmac-sha1-96", length: 12),
    MessageAuthentication("hmac-md5", length: 16),
    MessageAuthentication("hmac-md5-96", length: 12),
    MessageAuthentication("hmac-ripemd160", length: 20),
    MessageAuthentication("hmac-ripemd160@openssh.com", length: 20),
  ]

  /// The MAC called `name`; nil for one that no offer can hold.
  package static func named(_ name: String) -> MessageAuthentication? {
    all.first { $0.name == name }
  }

  /// The names of those that `library` has and that are offered by themselves, or of those that
  /// are not.
  static func names(standard isStandard: Bool, in library: LibraryVersion) -> [String] {
    all.filter { $0.isStandard == isStandard && $0.isIn(library) }.map(\.name)
  }

  private func isIn(_ library: LibraryVersion) -> Bool {
    !isOfCiphertext || library.hasModernProtection
  }
}
