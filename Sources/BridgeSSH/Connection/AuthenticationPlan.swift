/// Which credential is offered next: each once, in the order given, and only where the server takes
/// its method.
struct AuthenticationPlan {
  /// A server counts every refused offer and drops or bans who makes too many (MaxAuthTries is 6).
  static let mostOffers = 5

  /// One thing to offer.
  enum Offer: Sendable, Equatable {
    case keyFile(String)
    case agentKeys(socketPath: String)
    case agentKey(AgentKey)
    case password(isGiven: Bool, index: Int)
    case keyboardInteractive

    /// The method's name (RFC 4252, RFC 4256).
    var method: String {
      switch self {
      case .keyFile, .agentKeys, .agentKey: "publickey"
      case .password: "password"
      case .keyboardInteractive: "keyboard-interactive"
      }
    }
  }

  private var waiting: [Offer]
  private var offers = 0

  init(_ credentials: [SSHCredential]) {
    waiting = credentials.enumerated().map { index, credential in
      switch credential {
      case .keyFile(let path): .keyFile(path)
      case .agent(let socketPath): .agentKeys(socketPath: socketPath)
      case .password(let secret): .password(isGiven: secret != nil, index: index)
      case .keyboardInteractive: .keyboardInteractive
      }
    }
  }

  /// The next offer that `methods` allow; nil when nothing is left, or enough was refused.
  mutating func next(for methods: [String]) -> Offer? {
    guard offers < Self.mostOffers,
      let index = waiting.firstIndex(where: { methods.contains($0.method) })
    else { return nil }
    return waiting.remove(at: index)
  }

  /// The keys an agent turned out to hold take the agent's place.
  mutating func insert(_ keys: [AgentKey]) {
    waiting.insert(contentsOf: keys.map(Offer.agentKey), at: 0)
  }

  /// The server refused one; it is not offered again.
  mutating func refused() {
    offers += 1
  }
}
