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

extension Supervisor {
  /// Keeps a connection up from now on.
  ///
  /// - Parameters:
  ///   - id: its name.
  ///   - endpoint: where it leads. Links to one endpoint share a retry budget and take turns to
  ///     dial.
  ///   - options: how it is kept up.
  ///   - onConnected: called with each connection that is in use from now on. Its task is cancelled
  ///     when that ends; what came before can still be read then. One call at a time: the next
  ///     waits until this one has returned, but at most `RecoveryDefaults.handOverLimit`.
  ///   - make: makes a connection to the endpoint that has not been opened: the place to fetch a
  ///     fresh token or to read settings. What it throws is a failed dial.
  /// - Throws: `internalError` when its name is in use or it would depend on itself; `cancelled`
  ///   after `shutDown`.
  @discardableResult
  public func add<Transport: Connection>(
    _ id: ConnectionID, to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
    onConnected: @escaping @Sendable (Transport) async -> Void = { _ in },
    make: @escaping @Sendable (Endpoint) async throws(AppError) -> Transport
  ) throws(AppError) -> Link<Transport> {
    try supervise(
      SupervisedConnection(
        id: id, endpoint: endpoint, parents: options.parents, policy: options.policy,
        retriesFirstDial: options.retriesFirstDial, liveness: options.liveness,
        attemptLimit: options.attemptLimit, classify: options.classify,
        onConnected: { connection, _ in
          if let connection = connection as? Transport { await onConnected(connection) }
        },
        make: { (_: Int) async throws(AppError) -> any Connection in
          let connection = try await make(endpoint)
          guard connection.endpoint == endpoint else {
            throw .internalError(
              detail: "\(id) leads to \(endpoint), its connection to \(connection.endpoint)")
          }
          return connection
        }))
    return Link(id: id, owner: self)
  }
}
