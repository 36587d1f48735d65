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
    var connection = SupervisedConnection(
      id: id, endpoint: endpoint,
      onConnected: { connection, _ in
        if let connection = connection as? Transport { await onConnected(connection) }
      },
      make: { (_: Int) async throws(AppError) -> any Connection in try await make(endpoint) })
    connection.set(options)
    connection.makeAt = { (endpoint: Endpoint) async throws(AppError) -> any Connection in
      try await make(endpoint)
    }
    connection.set(endpoint)
    try supervise(connection)
    return Link(id: id, owner: self)
  }

  /// Replaces what is not nil of the description of a connection; `reconnects` also where its
  /// connections are made as before.
  package func change(
    _ id: ConnectionID, to endpoint: Endpoint?, _ options: LinkOptions?,
    make: (@Sendable (Endpoint) async throws(AppError) -> any Connection)?,
    reconnects: Bool = false
  ) throws(AppError) {
    guard !isShutDown, var connection = plans[id] else { throw .cancelled }
    if let options { connection.set(options) }
    if let make { connection.makeAt = make }
    let reconnects = reconnects || make != nil || endpoint.map { $0 != connection.endpoint } == true
    if reconnects { connection.set(endpoint ?? connection.endpoint) }
    let actions = try machine.change(connection.child, reconnects: reconnects, at: now())
    plans[id] = connection
    carryOut(actions)
  }
}

extension SupervisedConnection {
  fileprivate mutating func set(_ options: LinkOptions) {
    parents = options.parents
    policy = options.policy
    retriesFirstDial = options.retriesFirstDial
    liveness = options.liveness
    attemptLimit = options.attemptLimit
    classify = options.classify
  }

  /// Where it leads, and all of its connections from now on.
  fileprivate mutating func set(_ endpoint: Endpoint) {
    self.endpoint = endpoint
    guard let makeAt else { return }
    let id = id
    make = { (_: Int) async throws(AppError) -> any Connection in
      let connection = try await makeAt(endpoint)
      guard connection.endpoint == endpoint else {
        throw .internalError(
          detail: "\(id) leads to \(endpoint), its connection to \(connection.endpoint)")
      }
      return connection
    }
  }

  /// What the decisions are made from.
  var child: SupervisorStateMachine.Child {
    SupervisorStateMachine.Child(
      id: id, site: endpoint.description, parents: parents, policy: policy,
      retriesFirstDial: retriesFirstDial)
  }
}
