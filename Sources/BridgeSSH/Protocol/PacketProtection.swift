/// The effect of a cipher and a MAC on a packet's length on the wire (RFC 4253, 6).
package struct PacketProtection: Sendable, Equatable {
  /// The clear packet, with its length, is a multiple of this many bytes.
  package let blockSize: Int
  /// Bytes of the MAC behind each packet.
  package let macLength: Int

  /// Nil for a name that no offer can hold (`Cipher.all`, `MessageAuthentication.all`).
  package init?(cipher: String, mac: String) {
    guard let cipher = Cipher.all.first(where: { $0.name == cipher }),
      let mac = MessageAuthentication.all.first(where: { $0.name == mac })
    else { return nil }
    blockSize = cipher.blockSize
    macLength = mac.length
  }
}
