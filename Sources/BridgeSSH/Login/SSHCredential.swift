public import BridgeErrors

/// A credential of the user. Each is offered at most once per connection.
public enum SSHCredential: Sendable {
  /// A private key file (Ed25519, ECDSA or RSA), and the certificate beside it (`-cert.pub`, or
  /// `.pub`). The passphrase of an encrypted one is requested after the keys of an agent, which
  /// need none.
  case keyFile(String)
  /// A certificate of the user: that of a key of one of the agents or key files, which signs. It
  /// comes before those keys, and the certificates beside key files are not looked for.
  case certificateFile(String)
  /// The keys that the agent at this socket holds (`SSH_AUTH_SOCK`). Those whose public half is in
  /// one of `files` (a public key, or a private one) come before every other credential; the others
  /// take their turn, unless `isLimited`.
  case agent(socketPath: String, preferring: [String] = [], isLimited: Bool = false)
  /// A password; nil prompts for it.
  case password(Secret?)
  /// The server's questions (RFC 4256), answered by a person.
  case keyboardInteractive
  /// A password for the method that the server accepts: `password`, or where it does not accept it,
  /// the answer to the first hidden question of `keyboard-interactive`. Refused by one method, it
  /// is not offered by the other: a server would count it twice.
  case passwordByAnyMethod(Secret)
}
