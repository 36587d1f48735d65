import BridgeErrors
import BridgeRecovery
import BridgeTransport

/// The description of one link, as the supervisor keeps it.
struct LinkPlan: Sendable {
  /// Its name, the same over all its generations.
  let id: ConnectionID
  /// Where it leads.
  var endpoint: Endpoint
  /// How it is kept up.
  var options: LinkOptions
  /// Whether its host limits connections that are not authenticated yet.
  var limitsUnauthenticated: Bool
  /// Called with each generation that is in use from now on.
  var onConnected: @Sendable (_ connection: any Connection, _ generation: Int) async -> Void
  /// Makes a generation that has not connected yet.
  var make:
    @Sendable (_ endpoint: Endpoint, _ generation: Int) async throws(AppError)
      -> any Connection

  /// A generation that leads to the endpoint.
  func connection(_ generation: Int) async throws(AppError) -> any Connection {
    let connection = try await make(endpoint, generation)
    guard connection.endpoint == endpoint else {
      throw .internalError(
        detail: "\(id) leads to \(endpoint), its connection to \(connection.endpoint)")
    }
    return connection
  }

  /// What the decisions are made from.
  var child: SupervisorStateMachine.Child {
    SupervisorStateMachine.Child(
      id: id, site: options.group ?? endpoint.description, parents: options.parents,
      policy: options.policy, retriesFirstDial: options.retriesFirstDial,
      limitsUnauthenticated: limitsUnauthenticated)
  }
}
