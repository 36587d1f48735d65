public import BridgeErrors
public import BridgeRecovery
public import BridgeTransport

/// How a link is kept up; the defaults suit a connection that the program always needs.
public struct LinkOptions: Sendable {
  /// When a second connection is made ready while the peer of the first does not answer.
  public enum Standby: Sendable, Hashable, CaseIterable {
    /// At each suspicion. A server that allows one session per user refuses the second one.
    case always
    /// Only where replacing the connection loses nothing (`LivenessPolicy.SwitchingCost.free`).
    case ifFree
    /// Not at all.
    case never
  }

  /// The links that must be up before it is dialed.
  public var parents: [ConnectionID]
  /// How often and how soon it is dialed again.
  public var policy: RetryPolicy
  /// Whether a first dial is repeated like a later one.
  public var retriesFirstDial: Bool
  /// How the silence of the peer is evaluated; nil where nothing is to be probed.
  public var liveness: LivenessPolicy?
  /// When a second connection is made ready.
  public var standby: Standby
  /// The links that share a retry budget, turns to dial and a circuit breaker; nil for those to the
  /// same host and port. For hosts that only look alike (one private address behind two jump
  /// hosts), or unlike (one service at many addresses).
  public var group: String?
  /// How long the function that makes a connection may take; nil for as long as it likes.
  public var makeLimit: Duration?
  /// How long a dial may take, all of its phases together; nil leaves it to the transport.
  public var attemptLimit: Duration?
  /// Overrules the retry class of a failure; nil where the failure table is right.
  public var classify: @Sendable (_ failure: ConnectionError) -> RetryClass?

  /// Options; each has the default of the library.
  public init(
    parents: [ConnectionID] = [], policy: RetryPolicy = .persistent,
    retriesFirstDial: Bool = true, liveness: LivenessPolicy? = LivenessPolicy(),
    standby: Standby = .ifFree, group: String? = nil,
    makeLimit: Duration? = RecoveryDefaults.makeLimit, attemptLimit: Duration? = nil,
    classify: @escaping @Sendable (_ failure: ConnectionError) -> RetryClass? = { _ in nil }
  ) {
    self.parents = parents
    self.policy = policy
    self.retriesFirstDial = retriesFirstDial
    self.liveness = liveness
    self.standby = standby
    self.group = group
    self.makeLimit = makeLimit
    self.attemptLimit = attemptLimit
    self.classify = classify
  }

  /// Options of a connection whose replacement loses nothing, since its work goes on over the next
  /// one: durable sessions, and the messages of an outbox. Silence ends it early.
  public static let losesNothing = LinkOptions(liveness: LivenessPolicy(switching: .free))
}
