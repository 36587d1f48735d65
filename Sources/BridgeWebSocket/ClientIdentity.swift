public import BridgeErrors

/// What a client shows to a server that wants a certificate of it (mutual TLS; RFC 8446, 4.4.2).
public struct ClientIdentity: Sendable {
  /// The PEM file with the certificate, and behind it those that lead to the authority.
  public var certificateFile: String
  /// The PEM file with its private key.
  public var keyFile: String
  /// What the key is encrypted with; nil where it is not.
  public var passphrase: Secret?

  /// A certificate and its key. The files are read at each connect: one that was renewed is used.
  public init(certificateFile: String, keyFile: String, passphrase: Secret? = nil) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.passphrase = passphrase
  }
}
