/// An event of a connection to a scripted peer, with its monotonic time.
public struct PeerEvent: Sendable, Equatable {
  /// Time since the peer was started, on the monotonic clock.
  public var at: Duration
  /// The connection's number, counted from 1 in order of acceptance.
  public var connection: Int
  /// The kind of the event.
  public var kind: Kind

  /// The kinds of events, past tense.
  public enum Kind: Sendable, Equatable {
    /// A client was accepted.
    case accepted
    /// Every step was taken.
    case scriptDone
    /// The client sent its FIN.
    case clientFinished
    /// The connection is closed on both sides, or was reset by one.
    case closed
  }
}
