public import BridgeErrors
import BridgeRecovery
public import BridgeTransport

extension Supervisor {
  /// Keeps a connection up from now on.
  ///
  /// - Parameters:
  ///   - id: its name.
  ///   - endpoint: where it leads. Links to one endpoint share a retry budget and take turns to
  ///     dial.
  ///   - options: how it is kept up.
  ///   - onConnected: called with each connection that is in use from now on. Its task is canceled
  ///     when that ends; what came before can still be read then. One call at a time: the next
  ///     waits until this one has returned, but at most `RecoveryDefaults.handOverLimit`.
  ///   - make: makes a connection to the endpoint that has not been opened: the place to fetch a
  ///     fresh token or to read settings. It runs before the link has its turn to dial, for
  ///     `LinkOptions.makeLimit` at most; what it throws is a failure of this link and no dial.
  /// - Throws: `internalError` when its name is in use or it would depend on itself; `cancelled`
  ///   after `shutDown`.
  @discardableResult
  public func add<Transport: Connection>(
    _ id: ConnectionID, to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
    onConnected: @escaping @Sendable (Transport) async -> Void = { _ in },
    make: @escaping @Sendable (Endpoint) async throws(AppError) -> Transport
  ) throws(AppError) -> Link<Transport> {
    try add(
      id, to: endpoint, options,
      onGeneration: { (connection: Transport, _) in await onConnected(connection) },
      make: { (endpoint: Endpoint, _) async throws(AppError) -> Transport in
        try await make(endpoint)
      })
  }

  /// As the other one, but `onGeneration` is called with the number of each generation, too: it
  /// grows with every dial of the link.
  @discardableResult
  public func add<Transport: Connection>(
    _ id: ConnectionID, to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
    onGeneration: @escaping @Sendable (_ connection: Transport, _ generation: Int) async -> Void,
    make: @escaping @Sendable (Endpoint) async throws(AppError) -> Transport
  ) throws(AppError) -> Link<Transport> {
    try add(
      id, to: endpoint, options, onGeneration: onGeneration,
      make: { (endpoint: Endpoint, _) async throws(AppError) -> Transport in
        try await make(endpoint)
      })
  }

  /// As the public ones, with the number of each generation where it is made, too.
  @discardableResult
  package func add<Transport: Connection>(
    _ id: ConnectionID, to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
    onGeneration: @escaping @Sendable (_ connection: Transport, _ generation: Int) async -> Void =
      { _, _ in },
    make: @escaping @Sendable (Endpoint, _ generation: Int) async throws(AppError) -> Transport
  ) throws(AppError) -> Link<Transport> {
    guard !isShutDown else { throw .cancelled }
    let plan = LinkPlan(
      id: id, endpoint: endpoint, options: options,
      limitsUnauthenticated: Transport.limitsUnauthenticated,
      onConnected: { connection, generation in
        if let connection = connection as? Transport { await onGeneration(connection, generation) }
      },
      make: { (endpoint: Endpoint, generation: Int) async throws(AppError) -> any Connection in
        try await make(endpoint, generation)
      })
    let actions = try machine.add(plan.child, at: now())
    plans[id] = plan
    carryOut(actions)
    return Link(id: id, owner: self)
  }

  /// Replaces what is not nil of the description of a connection; `reconnects` also where its
  /// connections are made as before.
  package func change(
    _ id: ConnectionID, to endpoint: Endpoint?, _ options: LinkOptions?,
    make: (@Sendable (Endpoint) async throws(AppError) -> any Connection)?,
    reconnects: Bool = false
  ) throws(AppError) {
    guard !isShutDown, var plan = plans[id] else { throw .cancelled }
    if let options { plan.options = options }
    if let make {
      plan.make = { (endpoint: Endpoint, _: Int) async throws(AppError) -> any Connection in
        try await make(endpoint)
      }
    }
    let isElsewhere = endpoint.map { $0 != plan.endpoint } == true
    plan.endpoint = endpoint ?? plan.endpoint
    let actions = try machine.change(
      plan.child, reconnects: reconnects || make != nil || isElsewhere, at: now())
    plans[id] = plan
    carryOut(actions)
  }
}
