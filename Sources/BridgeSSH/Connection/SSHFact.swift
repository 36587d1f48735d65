package import BridgeErrors
package import BridgeReactor

/// A fact of a connection on its way, for a diagnosis.
package enum SSHFact: Sendable, Equatable {
  /// A phase was entered.
  case entered(ConnectionPhase)
  /// A step of the dial.
  case dial(DialFact)
  /// The version line of the server, escaped and bounded.
  case identified(String)
  /// The key exchange is over.
  case agreed(Agreement)
  /// The host key, compared with known_hosts.
  case hostKey(HostKeyFinding)
  /// A person was asked about the host key for so long.
  case asked(Duration)
  /// The methods of authentication that the server takes, before anything was offered.
  case methods([String])
  /// A credential and the answer to it.
  case offered(OfferFact)
  /// A channel for a command is open.
  case channelOpened
}
