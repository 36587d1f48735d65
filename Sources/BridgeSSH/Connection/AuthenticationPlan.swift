import BridgeErrors

/// Which credential is offered next: each once, in the order given, and only where the server takes
/// its method.
package struct AuthenticationPlan {
  /// A server counts every refused offer and drops or bans who makes too many (MaxAuthTries is 6).
  package static let mostOffers = 5

  /// One thing to offer.
  package enum Offer: Sendable, Equatable {
    case keyFile(String)
    case agentKeys(socketPath: String)
    case agentKey(AgentKey)
    case password(isGiven: Bool, index: Int)
    case keyboardInteractive

    /// The method's name (RFC 4252, RFC 4256).
    package var method: String {
      switch self {
      case .keyFile, .agentKeys, .agentKey: "publickey"
      case .password: "password"
      case .keyboardInteractive: "keyboard-interactive"
      }
    }
  }

  private var waiting: [Offer] = []
  private var offers = 0
  private var keys: Set<[UInt8]> = []

  /// A plan to offer `credentials`.
  package init(_ credentials: [SSHCredential]) {
    for (index, credential) in credentials.enumerated() {
      guard !credentials[..<index].contains(where: { $0.isSame(as: credential) }) else { continue }
      switch credential {
      case .keyFile(let path): waiting.append(.keyFile(path))
      case .agent(let socketPath): waiting.append(.agentKeys(socketPath: socketPath))
      case .password(let secret):
        waiting.append(.password(isGiven: secret != nil, index: index))
      case .keyboardInteractive: waiting.append(.keyboardInteractive)
      }
    }
  }

  /// The next offer that `methods` allow; nil when nothing is left, or enough was refused.
  package mutating func next(for methods: [String]) -> Offer? {
    guard offers < Self.mostOffers,
      let index = waiting.firstIndex(where: { methods.contains($0.method) })
    else { return nil }
    return waiting.remove(at: index)
  }

  /// The keys an agent turned out to hold take the agent's place.
  package mutating func insert(_ keys: [AgentKey]) {
    waiting.insert(contentsOf: keys.map(Offer.agentKey), at: 0)
  }

  /// False when this public key was offered before: by a file and by the agent, for instance.
  package mutating func isFirst(_ blob: [UInt8]) -> Bool { keys.insert(blob).inserted }

  /// The server refused one; it is not offered again.
  package mutating func refused() {
    offers += 1
  }
}

extension SSHCredential {
  /// Whether offering one after the other would offer the same twice.
  fileprivate func isSame(as other: SSHCredential) -> Bool {
    switch (self, other) {
    case (.keyFile(let mine), .keyFile(let theirs)): mine == theirs
    case (.agent(let mine), .agent(let theirs)): mine == theirs
    // Each that asks may bring another answer.
    case (.password(let mine?), .password(let theirs?)):
      mine.reveal { $0 } == theirs.reveal { $0 }
    case (.password, .password): false
    case (.keyboardInteractive, .keyboardInteractive): true
    case (.keyFile, _), (.agent, _), (.password, _), (.keyboardInteractive, _): false
    }
  }
}
