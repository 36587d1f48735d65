public import BridgeErrors

/// A credential of the user. Each is offered at most once per connection.
public enum SSHCredential: Sendable {
  /// A private key file (ed25519 or ECDSA). An encrypted one asks for its passphrase, after the
  /// keys of an agent, which need none.
  case keyFile(String)
  /// The keys that the agent at this socket holds (`SSH_AUTH_SOCK`). Those whose public half is in
  /// one of `files` (a public key, or a private one) come before every other credential; the others
  /// take their turn, unless `isLimited`.
  case agent(socketPath: String, preferring: [String] = [], isLimited: Bool = false)
  /// A password; nil asks for it.
  case password(Secret?)
  /// Whatever the server asks (RFC 4256), answered by a person.
  case keyboardInteractive
  /// A password for whichever method the server takes: `password`, or where it does not take that,
  /// the answer to the first hidden question of `keyboard-interactive`. Refused by one method, it
  /// is not offered by the other: a server would count it twice.
  case passwordByAnyMethod(Secret)
}
