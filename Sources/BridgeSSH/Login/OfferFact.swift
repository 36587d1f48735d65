/// One credential of a login and the answer to it, for a diagnosis.
package struct OfferFact: Sendable, Equatable {
  /// Which credential.
  package enum Credential: Sendable, Equatable {
    /// The key in a file.
    case keyFile(String)
    /// The list of an agent's keys.
    case agent(socketPath: String)
    /// A key of an agent.
    case agentKey
    case password
    case keyboardInteractive
  }

  /// What came of it.
  package enum Outcome: Sendable, Equatable {
    case accepted
    /// Accepted, and one of these methods must follow.
    case partial([String])
    /// Refused; these methods may go on.
    case refused([String])
    /// It could not be offered, for this reason.
    case unusable(String)
    /// It was not offered: given before, or a secret was not given.
    case notOffered(String)
    /// An agent was asked: how many keys it holds, and how many of them are offered.
    case listed(held: Int, offered: Int)
  }

  /// Which credential.
  package let credential: Credential
  /// The key's type as people know it; nil where it is not known, and for no key.
  package let keyType: String?
  /// The key's fingerprint; nil likewise.
  package let fingerprint: String?
  /// What came of it.
  package let outcome: Outcome
  /// How long a person was asked meanwhile.
  package let asked: Duration

  /// Creates a fact.
  package init(
    _ credential: Credential, keyType: String? = nil, fingerprint: String? = nil,
    _ outcome: Outcome, asked: Duration = .zero
  ) {
    self.credential = credential
    self.keyType = keyType
    self.fingerprint = fingerprint
    self.outcome = outcome
    self.asked = asked
  }
}

extension AuthenticationPlan.Offer {
  /// Which credential it is.
  var credential: OfferFact.Credential {
    switch self {
    case .keyFile(let path): .keyFile(path)
    // The key signs, and its passphrase is right or wrong.
    case .certificate(_, let path): .keyFile(path)
    case .certificateFile(let path): .keyFile(path)
    case .agentKeys(let keys): .agent(socketPath: keys.socketPath)
    case .agentKey: .agentKey
    case .password: .password
    case .keyboardInteractive, .sameByKeyboardInteractive: .keyboardInteractive
    }
  }
}
