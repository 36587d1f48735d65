package import BridgeErrors
package import BridgeSSH

/// The secrets that were right: a reconnect does not ask for them again.
///
/// Each is kept for who asked for what, not for the text of the question: two hosts may be asked
/// about in the same words, and the password of one is not for the other.
package struct AnswerMemory: Sendable {
  /// What a secret answers.
  package enum Question: Sendable, Hashable {
    /// The password of an account.
    case password(Asker)
    /// The passphrase of the key file at this path. It stays on this machine.
    case passphrase(keyFile: String)
  }

  private var right: [Question: Secret] = [:]

  /// An empty memory.
  package init() {}

  /// The secret that was right before.
  package func answer(to question: Question) -> Secret? { right[question] }

  /// Keeps what was accepted, and forgets what was not.
  package mutating func learn(_ secret: Secret?, for question: Question, isRight: Bool) {
    right[question] = isRight ? secret ?? right[question] : nil
  }
}
