public import BridgeErrors

/// The port between what carries bytes and what decides about recovery.
///
/// One value is one generation: it connects once, reports what ends it, and never retries. The
/// supervisor makes a new one for the next generation, and the old one's descriptor is closed and
/// its session freed before that starts.
public protocol Connection: Actor {
  /// Where it leads.
  nonisolated var endpoint: Endpoint { get }

  /// Steps of this connection, oldest first. One reader; ends with `.closed`.
  nonisolated var events: AsyncStream<ConnectionEvent> { get }

  /// Resolves, dials, negotiates and authenticates.
  ///
  /// - Throws: what the failure maps to; `cancelled` when the calling task is cancelled.
  nonisolated func connect() async throws(AppError)

  /// One round trip through the peer, and how long it took: proof of life.
  ///
  /// - Throws: `sshTimeout` or `webSocketPingTimeout` when no answer came by `deadline`.
  nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration

  /// Ends the connection in at most one second. Safe to call in every state, and again.
  nonisolated func close() async

  /// What ended it, with all that is known; nil while nothing has.
  var lastFailure: FailureContext? { get }

  /// The instant (on the continuous clock) at which the last byte was received from the peer.
  var lastHeard: ContinuousClock.Instant? { get }

  /// What is known of its traffic beside `lastHeard`.
  var traffic: TrafficState { get async }
}

/// A step in the life of a connection, past tense.
public enum ConnectionEvent: Sendable, Equatable {
  /// A phase was entered.
  case entered(ConnectionPhase)
  /// Authenticated and usable.
  case connected
  /// It ended by itself; the context says why.
  case failed(AppError, FailureContext)
  /// Descriptor closed, native session freed. The last event.
  case closed
}
