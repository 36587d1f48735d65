public import BridgeErrors
public import BridgeRecovery
public import BridgeTransport

/// The state of a link.
public typealias LinkState = RecoveryStateMachine.State

/// One connection that a supervisor keeps up, over all of its generations.
public struct Link<Transport: Connection>: Sendable, Identifiable {
  /// Its name; errors about it have it as their source.
  public let id: ConnectionID
  let owner: any LinkOwner

  /// The connection in use, as soon as there is one.
  ///
  /// - Throws: what the link gave up with, or what something that it depends on gave up with;
  ///   `cancelled` when it is closed, or when the calling task is canceled.
  public var connection: Transport {
    get async throws(AppError) {
      let connection = try await owner.connection(id)
      guard let connection = connection as? Transport else {
        throw .internalError(detail: "\(id) is no \(Transport.self)")
      }
      return connection
    }
  }

  /// Its state; nil once it is closed.
  public var state: LinkState? {
    get async { await owner.state(of: id) }
  }

  /// Dials now where it waits or has given up, and probes where it is up.
  public func retryNow() async {
    await owner.reconnectNow(id)
  }

  /// Ends the connection in use, which the application has found to be of no use; a new one takes
  /// its place, at once after a healthy time, then later each time. Where none is in use this
  /// changes nothing. A connection that the application closes by itself is replaced likewise.
  ///
  /// - Parameter reason: what events and the screen report; nil for a sentence of our own.
  public func restart(reason: AppError? = nil) async {
    await owner.restart(id, reason: reason)
  }

  /// Changes the link in place: its name, its events and what depends on it stay.
  ///
  /// With another endpoint or `make` its connection is ended and it is dialed anew, whatever it
  /// waited for: other credentials are tried at once, and the entry of a refused one goes. What
  /// depends on it is suspended until it is up again. Options alone keep the connection: they count
  /// from the next dial on, and `parents` at once.
  ///
  /// - Parameters:
  ///   - endpoint: where it leads; nil keeps the endpoint.
  ///   - options: how it is kept up; nil keeps the options.
  ///   - make: makes its connections; nil keeps the function that was given to `add`.
  /// - Throws: `cancelled` when the link is closed; `internalError` when it would depend on itself.
  public func change(
    to endpoint: Endpoint? = nil, _ options: LinkOptions? = nil,
    make: (@Sendable (Endpoint) async throws(AppError) -> Transport)? = nil
  ) async throws(AppError) {
    var erased: (@Sendable (Endpoint) async throws(AppError) -> any Connection)?
    if let make {
      erased = { (endpoint: Endpoint) async throws(AppError) -> any Connection in
        try await make(endpoint)
      }
    }
    try await owner.change(id, to: endpoint, options, make: erased, reconnects: false)
  }

  /// Ends it for good, and returns when its descriptor is closed and its name is free again; links
  /// that depend on it stay suspended.
  public func close() async {
    await owner.closeAndWait(id)
  }

  /// The events of this link from now on; they end after it was closed.
  public func events() -> LinkEvents {
    LinkEvents(events: owner.eventStream.subscribe(to: id.description))
  }
}

/// The supervisor of a link, whatever its clock.
protocol LinkOwner: Actor {
  nonisolated var eventStream: EventStream { get }
  nonisolated func connection(_ id: ConnectionID) async throws(AppError) -> any Connection
  func state(of id: ConnectionID) -> RecoveryStateMachine.State?
  func reconnectNow(_ id: ConnectionID)
  func restart(_ id: ConnectionID, reason: AppError?)
  func change(
    _ id: ConnectionID, to endpoint: Endpoint?, _ options: LinkOptions?,
    make: (@Sendable (Endpoint) async throws(AppError) -> any Connection)?, reconnects: Bool
  ) throws(AppError)
  nonisolated func closeAndWait(_ id: ConnectionID) async
}

extension Supervisor: LinkOwner {}
