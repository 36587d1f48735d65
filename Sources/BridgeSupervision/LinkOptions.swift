public import BridgeErrors
public import BridgeRecovery
public import BridgeTransport

/// How a link is kept up; the defaults suit a connection that the program always needs.
public struct LinkOptions: Sendable {
  /// The links that must be up before it is dialed.
  public var parents: [ConnectionID]
  /// How often and how soon it is dialed again.
  public var policy: RetryPolicy
  /// Whether a first dial is repeated like a later one.
  public var retriesFirstDial: Bool
  /// How the silence of the peer is evaluated; nil where nothing is to be probed.
  public var liveness: LivenessPolicy?
  /// How long a dial may take, all of its phases together; nil leaves it to the transport.
  public var attemptLimit: Duration?
  /// Overrules the retry class of a failure; nil where the failure table is right.
  public var classify: @Sendable (_ failure: ConnectionError) -> RetryClass?

  /// Options; each has the default of the library.
  public init(
    parents: [ConnectionID] = [], policy: RetryPolicy = .persistent,
    retriesFirstDial: Bool = true, liveness: LivenessPolicy? = LivenessPolicy(),
    attemptLimit: Duration? = nil,
    classify: @escaping @Sendable (_ failure: ConnectionError) -> RetryClass? = { _ in nil }
  ) {
    self.parents = parents
    self.policy = policy
    self.retriesFirstDial = retriesFirstDial
    self.liveness = liveness
    self.attemptLimit = attemptLimit
    self.classify = classify
  }
}
