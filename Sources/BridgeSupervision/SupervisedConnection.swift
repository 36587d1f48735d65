public import BridgeErrors
public import BridgeRecovery
public import BridgeTransport

/// The description of one connection that a supervisor keeps up.
public struct SupervisedConnection: Sendable {
  /// Its name, the same over all its generations; errors about it have it as their source.
  public var id: ConnectionID
  /// Where it leads. Connections to one endpoint share a retry budget and take turns to dial.
  public var endpoint: Endpoint
  /// What must be up before it is tried.
  public var parents: [ConnectionID]
  /// How often and how soon it is tried again.
  public var policy: RetryPolicy
  /// Whether a first connection is tried again like a later one.
  public var retriesFirstDial: Bool
  /// How the silence of the peer is evaluated; nil where nothing is to be probed.
  public var liveness: LivenessPolicy?
  /// How long a dial may take, all of its phases together; nil leaves it to the transport.
  public var attemptLimit: Duration?
  /// Makes a generation that has not connected yet: the place to fetch a fresh token or to read
  /// settings. What it throws is a failed dial.
  public var make: @Sendable (_ generation: Int) async throws(AppError) -> any Connection
  /// Makes a generation that leads to another endpoint; nil where `make` does not say how.
  var makeAt: (@Sendable (_ endpoint: Endpoint) async throws(AppError) -> any Connection)?
  /// Overrules the retry class of the failure table; nil keeps it.
  public var classify: @Sendable (_ failure: ConnectionError) -> RetryClass?
  /// Called with each generation that is in use from now on. Its task is cancelled when that ends;
  /// what came before can still be read then. One call at a time: the next generation's waits until
  /// this one has returned, but at most `RecoveryDefaults.handOverLimit`.
  public var onConnected: @Sendable (_ connection: any Connection, _ generation: Int) async -> Void

  /// A connection to keep up.
  public init(
    id: ConnectionID, endpoint: Endpoint, parents: [ConnectionID] = [],
    policy: RetryPolicy = .persistent, retriesFirstDial: Bool = true,
    liveness: LivenessPolicy? = LivenessPolicy(),
    attemptLimit: Duration? = nil,
    classify: @escaping @Sendable (_ failure: ConnectionError) -> RetryClass? = { _ in nil },
    onConnected:
      @escaping @Sendable (_ connection: any Connection, _ generation: Int) async -> Void =
      { _, _ in },
    make: @escaping @Sendable (_ generation: Int) async throws(AppError) -> any Connection
  ) {
    self.id = id
    self.endpoint = endpoint
    self.parents = parents
    self.policy = policy
    self.retriesFirstDial = retriesFirstDial
    self.liveness = liveness
    self.attemptLimit = attemptLimit
    self.classify = classify
    self.onConnected = onConnected
    self.make = make
  }
}
