public import BridgeErrors

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
  /// Whether `trust` is also asked about a key that differs from the known one, which it then
  /// replaces. ssh(1) refuses it, and StrictHostKeyChecking=yes does always.
  public var asksAboutChangedKeys = false

  /// Called with what the server tells the user before the login (a `Banner` of sshd), raw: escape
  /// it before it is shown. It must not block.
  public var notice: @Sendable (_ text: String) -> Void

  /// Creates an interaction that answers nothing and trusts no key, except as given.
  public init(
    passphrase: @escaping @concurrent @Sendable (String) async -> Secret? = { _ in nil },
    password: @escaping @concurrent @Sendable (String, String) async -> Secret? = { _, _ in nil },
    answers: @escaping @concurrent @Sendable (KeyboardInteractiveRequest) async -> [Secret]? = {
      _ in nil
    },
    trust: @escaping @concurrent @Sendable (HostKeyQuestion) async -> Bool = { _ in false },
    notice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.passphrase = passphrase
    self.password = password
    self.answers = answers
    self.trust = trust
    self.notice = notice
  }
}
