/// The effect of a cipher and a MAC on a packet's length on the wire (RFC 4253, 6), and on what
/// libssh2 reads and allocates for it (transport.c).
package struct PacketProtection: Sendable, Equatable {
  /// What is encrypted, and what the MAC is of.
  package enum Layout: Sendable, Equatable {
    /// The length is encrypted with the packet, the MAC is that of the clear packet.
    case macOfClear
    /// The length is in clear, the MAC is that of the encrypted packet.
    case macOfCiphertext
    /// The length is in clear, the tag is checked with the last block.
    case gcm
    /// The length is encrypted by itself, the tag is checked before anything is decrypted.
    case chachaPoly
  }

  /// What is encrypted, and what the MAC is of.
  package let layout: Layout
  /// What is encrypted is a multiple of this many bytes.
  package let blockSize: Int
  /// Bytes of the MAC or tag behind each packet.
  package let macLength: Int

  /// Nil for a name that no offer can hold (`Cipher.all`, `MessageAuthentication.all`). An AEAD
  /// needs no MAC, whatever was agreed on.
  package init?(cipher: String, mac: String) {
    guard let cipher = Cipher.named(cipher) else { return nil }
    blockSize = cipher.blockSize
    if let integrated = cipher.integrated {
      layout =
        switch integrated {
        case .gcm: .gcm
        case .chachaPoly: .chachaPoly
        }
      macLength = 16
      return
    }
    guard let mac = MessageAuthentication.named(mac) else { return nil }
    layout = mac.isOfCiphertext ? .macOfCiphertext : .macOfClear
    macLength = mac.length
  }

  /// The number of bytes that the library takes before it knows the packet's length.
  package var firstRead: Int {
    switch layout {
    case .macOfClear, .gcm, .chachaPoly: blockSize
    case .macOfCiphertext: 4
    }
  }

  /// The packet's length, as its first four bytes give it, for which the library allocates `count`
  /// bytes.
  package func length(allocating count: Int) -> Int {
    switch layout {
    // Without the length of the padding.
    case .macOfClear, .gcm: count + 1 - macLength
    // With the length itself.
    case .macOfCiphertext, .chachaPoly: count - 4 - macLength
    }
  }

  /// Whether a packet may have this length. The library checks it for none of these, and takes its
  /// remainder for a number of bytes that cannot be negative.
  package func isWhole(_ length: Int) -> Bool {
    switch layout {
    case .macOfClear: (length + 4) % blockSize == 0
    case .macOfCiphertext, .gcm: length > 0 && length % blockSize == 0
    case .chachaPoly:
      length > 0 && length % blockSize == 0 && 4 + length + macLength <= Self.bufferSize
    }
  }

  /// A sealed packet is collected in a buffer of this size (PACKETBUFSIZE).
  private static let bufferSize = 35_000
}
