/// Where in the life of a connection something happened. Every phase has a total deadline of its
/// own.
public enum ConnectionPhase: String, Sendable, CaseIterable {
  /// The name of the host is resolved.
  case resolve
  /// A TCP connection is made to one of the addresses.
  case dial
  /// SSH: the version lines are exchanged.
  case banner
  /// SSH: the keys of the session are agreed on.
  case keyExchange
  /// SSH: the host key is verified.
  case hostKey
  /// SSH: the user is authenticated.
  case authenticate
  /// SSH: a channel is opened.
  case openChannel
  /// SSH: a command or a shell is started.
  case execute
  /// The connection is in use.
  case stream
  /// WebSocket: the TLS handshake and the HTTP upgrade.
  case upgrade
  /// The connection is being closed.
  case close

  /// Whether the user of an SSH connection is logged in.
  var isAfterLogin: Bool {
    switch self {
    case .openChannel, .execute, .stream, .close: true
    case .resolve, .dial, .banner, .keyExchange, .hostKey, .authenticate, .upgrade: false
    }
  }
}
