package import BridgeErrors
package import BridgeTransport

/// Who asks for a secret: an account at one place of the way.
package struct Asker: Sendable, Hashable {
  /// The account.
  package let user: String
  /// The host and the port of its server.
  package let endpoint: Endpoint
  /// Its number among the hosts on the way, from 0; nil for the host that the run leads to.
  package let hop: Int?

  /// The account `user` at `endpoint`.
  package init(user: String, endpoint: Endpoint, hop: Int? = nil) {
    self.user = user
    self.endpoint = endpoint
    self.hop = hop
  }

  /// Its host as questions show it: with the port where that is not 22, marked where it is on the
  /// way.
  package var place: String {
    let place = endpoint.port == 22 ? endpoint.host : endpoint.description
    return PeerText.escaped(place, limit: 256) + (hop == nil ? "" : " (jump host)")
  }
}

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
