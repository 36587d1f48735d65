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

/// The prompts of a connection while it authenticates. Nil answers mean "not available": the next
/// credential's turn. The time an answer takes does not count against a deadline.
public struct SSHInteraction: Sendable {
  /// The passphrase of the key file at this path.
  public var passphrase: @concurrent @Sendable (_ keyFile: String) async -> Secret?
  /// The password of `user` at `host`.
  public var password: @concurrent @Sendable (_ user: String, _ host: String) async -> Secret?
  /// Answers to a keyboard-interactive request, one a prompt.
  public var answers:
    @concurrent @Sendable (_ request: KeyboardInteractiveRequest) async -> [Secret]?
  /// Whether a host key that is not known is to be trusted.
  public var trust: @concurrent @Sendable (_ question: HostKeyQuestion) async -> Bool

  /// Creates an interaction that answers nothing and trusts no key, except as given.
  public init(
    passphrase: @escaping @concurrent @Sendable (String) async -> Secret? = { _ in nil },
    password: @escaping @concurrent @Sendable (String, String) async -> Secret? = { _, _ in nil },
    answers: @escaping @concurrent @Sendable (KeyboardInteractiveRequest) async -> [Secret]? = {
      _ in nil
    },
    trust: @escaping @concurrent @Sendable (HostKeyQuestion) async -> Bool = { _ in false }
  ) {
    self.passphrase = passphrase
    self.password = password
    self.answers = answers
    self.trust = trust
  }
}

/// A host key that is in no known_hosts file, for a person to verify.
public struct HostKeyQuestion: Sendable, Equatable {
  /// The host as the user named it, with its port where that is not 22.
  public var host: String
  /// The key's type as people know it: `ED25519`, `ECDSA`.
  public var keyType: String
  /// `SHA256:` and the base64 of the key's digest.
  public var fingerprint: String
  /// Why a policy may not accept it: a known_hosts line that could not be read may be about this
  /// host, or the host is known by keys of other types.
  public var doubt: String?
  /// Whether the host is known, by keys of other types only; `doubt` names them.
  public var isKnownByOtherTypes = false
}
