import BridgeErrors

/// Which credential is offered next: each once, in the order given, and only where the server takes
/// its method. As with ssh, the server decides how many keys it hears of.
package struct AuthenticationPlan {
  /// A server counts every refused offer and disconnects a client that makes too many (MaxAuthTries
  /// of sshd is 6): after so many keys a secret that was given has its turn.
  package static let mostKeysFirst = 5
  /// A person, and what bans the address of who guesses, has had enough after so many.
  package static let mostSecrets = 5

  /// One thing to offer.
  package enum Offer: Sendable, Equatable {
    case keyFile(String)
    /// A certificate of the key in a file.
    case certificate(UserCertificate, keyFile: String)
    /// The certificate in a file.
    case certificateFile(String)
    case agentKeys(AgentKeys)
    case agentKey(AgentKey)
    case password(isGiven: Bool, index: Int)
    case keyboardInteractive
    /// The same secret as that of the password with this index.
    case sameByKeyboardInteractive(index: Int)

    /// The method's name (RFC 4252, RFC 4256).
    package var method: String {
      switch self {
      case .keyFile, .certificate, .certificateFile, .agentKeys, .agentKey: "publickey"
      case .password: "password"
      case .keyboardInteractive, .sameByKeyboardInteractive: "keyboard-interactive"
      }
    }
  }

  /// Which keys of an agent to offer.
  package struct AgentKeys: Sendable, Equatable {
    /// The socket of the agent.
    package var socketPath: String
    /// Files whose keys come first.
    package var preferred: [String]
    /// Whether only those are offered.
    package var isLimited: Bool
    /// The key files whose turn is before that of the other keys.
    package var behind: [String] = []

    /// The keys of the agent at `socketPath`.
    package init(socketPath: String, preferred: [String] = [], isLimited: Bool = false) {
      self.socketPath = socketPath
      self.preferred = preferred
      self.isLimited = isLimited
    }
  }

  private var waiting: [Offer] = []
  private var refusedKeys = 0
  private var refusedSecrets = 0
  private var keys: Set<[UInt8]> = []
  /// The keys of files that were opened, for a key and its certificate; nil where no passphrase
  /// that was given opens one.
  var opened: [String: PrivateKey?] = [:]
  /// The keys that agents hold.
  private var held: [AgentKey] = []
  /// The certificates that come next, once the agents were asked for their keys.
  private var certificates: [Offer] = []
  private var hasCertificateFiles = false

  /// A plan to offer `credentials`, and as many conversations for a `keyboardInteractive`.
  package init(_ credentials: [SSHCredential], conversations: Int = 1) {
    for (index, credential) in credentials.enumerated() {
      guard !credentials[..<index].contains(where: { $0.isSame(as: credential) }) else { continue }
      switch credential {
      case .keyFile(let path): waiting.append(.keyFile(path))
      case .certificateFile(let path): certificates.append(.certificateFile(path))
      case .agent(let socketPath, let files, let isLimited):
        var keys = AgentKeys(socketPath: socketPath, preferred: files, isLimited: isLimited)
        keys.behind = waiting.compactMap { if case .keyFile(let path) = $0 { path } else { nil } }
        // Which of its keys come first is known once its keys are read.
        waiting.insert(.agentKeys(keys), at: files.isEmpty ? waiting.count : 0)
      case .password(let secret):
        waiting.append(.password(isGiven: secret != nil, index: index))
      case .keyboardInteractive:
        waiting += Array(repeating: .keyboardInteractive, count: max(1, conversations))
      case .passwordByAnyMethod:
        waiting.append(.password(isGiven: true, index: index))
        waiting.append(.sameByKeyboardInteractive(index: index))
      }
    }
    guard !certificates.isEmpty else { return }
    hasCertificateFiles = true
    // Which keys there are to sign for them is to be known first.
    waiting = waiting.filter(\.isList) + waiting.filter { !$0.isList }
  }

  /// The next offer that `methods` allow; nil when nothing is left, or enough was refused.
  package mutating func next(for methods: [String]) -> Offer? {
    if !certificates.isEmpty, !waiting.contains(where: \.isList) {
      waiting = certificates + waiting
      certificates = []
    }
    let allowed = waiting.indices.filter { index in
      let offer = waiting[index]
      return methods.contains(offer.method)
        && (offer.isKey || refusedSecrets < Self.mostSecrets)
    }
    let given = allowed.first { waiting[$0].isGivenSecret }
    let due = refusedKeys < Self.mostKeysFirst ? nil : given
    return (due ?? allowed.first).map { waiting.remove(at: $0) }
  }

  /// The keys that an agent turned out to hold: `preferred` come next, `others` after those of
  /// `files` that still wait.
  package mutating func insert(
    _ preferred: [AgentKey], others: [AgentKey] = [], behind files: [String] = []
  ) {
    let last = waiting.lastIndex {
      if case .keyFile(let path) = $0 { files.contains(path) } else { false }
    }
    waiting.insert(contentsOf: others.map(Offer.agentKey), at: last.map { $0 + 1 } ?? 0)
    waiting.insert(contentsOf: preferred.map(Offer.agentKey), at: 0)
  }

  /// An agent holds these keys, offered or not.
  package mutating func add(held keys: [AgentKey]) { held += keys }

  /// The key that `certificate` is for, where an agent holds it.
  package func agentKey(of certificate: UserCertificate) -> AgentKey? {
    held.first { $0.blob == certificate.key }
  }

  /// The certificate of the key in the file at `path` comes next, behind that key.
  package mutating func follow(_ certificate: UserCertificate, keyFile path: String) {
    if !hasCertificateFiles { come(next: certificate, keyFile: path) }
  }

  /// A certificate comes next, for which the key in the file at `path` signs, or that of an agent.
  package mutating func come(next certificate: UserCertificate, keyFile path: String) {
    let offer = Offer.certificate(certificate, keyFile: path)
    if !waiting.contains(offer) { waiting.insert(offer, at: 0) }
  }

  /// Puts a key file that needs a person behind the keys of an agent, which need none; false where
  /// none of those wait.
  package mutating func postpone(keyFile path: String) -> Bool {
    let last = waiting.lastIndex {
      switch $0 {
      case .agentKey, .agentKeys: true
      case .keyFile, .certificate, .certificateFile, .password, .keyboardInteractive,
        .sameByKeyboardInteractive:
        false
      }
    }
    guard let last else { return false }
    waiting.insert(.keyFile(path), at: last + 1)
    return true
  }

  /// Whether this public key was offered before.
  package func hasOffered(_ blob: [UInt8]) -> Bool { keys.contains(blob) }

  /// False when this public key was offered before: by a file and by the agent, for instance.
  package mutating func isFirst(_ blob: [UInt8]) -> Bool { keys.insert(blob).inserted }

  /// The key was not offered after all: another place may have it in a usable form.
  package mutating func withdraw(_ blob: [UInt8]) { keys.remove(blob) }

  /// `offer`, of the key with this public half, has its turn again once the server takes its
  /// method: it was offered before the server had said which it takes.
  package mutating func putBack(_ offer: Offer, _ blob: [UInt8]?) {
    waiting.insert(offer, at: 0)
    if let blob { keys.remove(blob) }
  }

  /// The server refused `offer`; it is not offered again, by no other method either.
  package mutating func refused(_ offer: Offer) {
    if offer.isKey { refusedKeys += 1 } else { refusedSecrets += 1 }
    guard case .password(_, let index) = offer else { return }
    waiting.removeAll { $0 == .sameByKeyboardInteractive(index: index) }
  }

  /// A conversation brought no question, or no answer: another one would be the same.
  package mutating func endConversations() { waiting.removeAll { $0 == .keyboardInteractive } }
}

extension AuthenticationPlan.Offer {
  /// Whether it is one key, or several.
  fileprivate var isKey: Bool {
    switch self {
    case .keyFile, .certificate, .certificateFile, .agentKeys, .agentKey: true
    case .password, .keyboardInteractive, .sameByKeyboardInteractive: false
    }
  }

  /// Whether it is a secret that needs no question to a person.
  fileprivate var isGivenSecret: Bool {
    switch self {
    case .password(let isGiven, _): isGiven
    case .sameByKeyboardInteractive: true
    case .keyFile, .certificate, .certificateFile, .agentKeys, .agentKey, .keyboardInteractive:
      false
    }
  }

  /// Whether it may have its turn later: after the keys of an agent, or once its key is found.
  var hasLaterTurn: Bool {
    switch self {
    case .keyFile, .certificateFile: true
    case .certificate, .agentKeys, .agentKey, .password, .keyboardInteractive,
      .sameByKeyboardInteractive:
      false
    }
  }

  /// Whether it asks an agent for its keys.
  fileprivate var isList: Bool { if case .agentKeys = self { true } else { false } }
}

extension SSHCredential {
  /// Whether offering one after the other would offer the same twice.
  fileprivate func isSame(as other: SSHCredential) -> Bool {
    switch (self, other) {
    case (.keyFile(let mine), .keyFile(let theirs)): mine == theirs
    case (.certificateFile(let mine), .certificateFile(let theirs)): mine == theirs
    case (.agent(let mine, _, _), .agent(let theirs, _, _)): mine == theirs
    // Each that asks may bring another answer.
    case (.password(let mine?), .password(let theirs?)): mine.isSame(as: theirs)
    case (.password, .password): false
    case (.keyboardInteractive, .keyboardInteractive): true
    case (.passwordByAnyMethod(let mine), .passwordByAnyMethod(let theirs)):
      mine.isSame(as: theirs)
    case (.keyFile, _), (.certificateFile, _), (.agent, _), (.password, _),
      (.keyboardInteractive, _),
      (.passwordByAnyMethod, _):
      false
    }
  }
}

extension Secret {
  /// Whether the bytes are the same; none of them is copied.
  fileprivate func isSame(as other: Secret) -> Bool {
    reveal { mine in other.reveal { theirs in mine == theirs } }
  }
}
