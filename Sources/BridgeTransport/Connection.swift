public import BridgeErrors

/// The protocol that transports implement; the supervisor uses nothing else of them.
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
  /// - Throws: the failure with its context; `cancelled` when the calling task is canceled. Until
  ///   it has returned this is the one way by which a failure is reported; later ones are events.
  nonisolated func open() async throws(ConnectionError)

  /// One round trip through the peer, and how long it took: proof of life.
  ///
  /// - Throws: the error of `timeout(in: .stream, after:)` when no answer came by `deadline`; what
  ///   ended the connection.
  nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration

  /// Ends the connection in at most one second. Safe to call in every state, and again.
  nonisolated func close() async

  /// The failure that a deadline means for this transport.
  ///
  /// - Parameters:
  ///   - phase: the phase that was cut short; `.stream` where the peer of a connection that was up
  ///     is declared dead.
  ///   - seconds: how long the peer was waited for.
  nonisolated func timeout(in phase: ConnectionPhase, after limit: Duration) -> ConnectionError

  /// What ended it, with all that is known; nil while nothing has.
  var lastFailure: FailureContext? { get }

  /// The instant (on the continuous clock) at which the last byte was received from the peer.
  var lastHeard: ContinuousClock.Instant? { get }

  /// Whether it does not read by choice, and how much the peer's kernel has taken: its silence is
  /// not evaluated by `lastHeard` alone.
  var traffic: TrafficState { get async }

  /// Whether servers of its protocol limit connections that are not authenticated yet, as sshd does
  /// (MaxStartups): then so many at most are dialed at once, those included that the server may
  /// still count.
  nonisolated static var limitsUnauthenticated: Bool { get }

  /// How long it has waited for a person's answers (a passphrase, a decision about a host key), the
  /// present question included: an attempt's limit is about the peer and does not count it. Zero
  /// for a transport that asks nothing.
  var timeAsked: Duration { get async }
}

extension Connection {
  /// There is no such limit.
  public nonisolated static var limitsUnauthenticated: Bool { false }

  /// Nothing is asked.
  public var timeAsked: Duration { .zero }

  /// Resolves, dials, negotiates and authenticates.
  ///
  /// - Throws: what the failure maps to; `cancelled` when the calling task is canceled.
  public nonisolated func connect() async throws(AppError) {
    do throws(ConnectionError) {
      try await open()
    } catch {
      throw error.error
    }
  }
}
