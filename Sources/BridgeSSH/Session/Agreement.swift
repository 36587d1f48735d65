/// The result of the key exchange (RFC 4253, 7.1), by the algorithms' names.
public struct Agreement: Sendable, Equatable {
  /// The key exchange method.
  public var keyExchange: String
  /// The host key's signature algorithm.
  public var hostKey: String
  /// The cipher, client to server.
  public var cipher: String
  /// The integrity algorithm, client to server; `<implicit>` where the cipher is an AEAD.
  public var mac: String

  /// The result with these names.
  package init(keyExchange: String, hostKey: String, cipher: String, mac: String) {
    self.keyExchange = keyExchange
    self.hostKey = hostKey
    self.cipher = cipher
    self.mac = mac
  }
}
