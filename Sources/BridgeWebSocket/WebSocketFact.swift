package import BridgeErrors
package import BridgeReactor

/// A fact of a WebSocket connection on its way, for a diagnosis.
package enum WebSocketFact: Sendable, Equatable {
  /// A phase was entered.
  case entered(ConnectionPhase)
  /// A step of the dial.
  case dial(DialFact)
  /// A proxy answered the request for a tunnel.
  case tunnel(status: Int)
  /// The certificate that the server shows, not verified yet.
  case certificate(CertificateDetails)
  /// The server is identified and TLS is up; the version and the cipher as OpenSSL names them.
  case secured(version: String, cipher: String)
}

/// What a certificate says, escaped and bounded.
package struct CertificateDetails: Sendable, Equatable {
  /// The names that it is for (subjectAltName); empty where it has none.
  package let names: String
  /// Who issued it.
  package let issuer: String
  /// Until when it is valid.
  package let expires: String

  /// Creates the value.
  package init(names: String, issuer: String, expires: String) {
    self.names = PeerText.escaped(names, limit: 512)
    self.issuer = PeerText.escaped(issuer, limit: 256)
    self.expires = PeerText.escaped(expires, limit: 64)
  }
}
