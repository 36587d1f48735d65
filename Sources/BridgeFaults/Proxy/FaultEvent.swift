/// An event of a proxy, with its monotonic time.
public struct FaultEvent: Sendable, Equatable {
  /// Time since the proxy was started, on the monotonic clock.
  public var at: Duration
  /// The connection's number, counted from 1 in order of acceptance; nil for the proxy itself.
  public var connection: Int?
  /// The kind of the event.
  public var kind: Kind

  /// The kinds of events, past tense.
  public enum Kind: Sendable, Equatable {
    /// A client was accepted, and what was done with it.
    case accepted(Admission)
    /// The server was reached for it.
    case connected
    /// The server could not be reached; the client got a RST.
    case serverUnreachable
    /// A fault was injected: its description.
    case injected(String)
    /// Nothing passes in this direction any more.
    case froze(Direction)
    /// The direction passes bytes again.
    case thawed(Direction)
    /// A shaper altered the stream.
    case altered(Direction, String)
    /// A FIN was passed on, or sent by a fault.
    case finished(Direction)
    /// The proxy sent a RST to both sides by order of a fault.
    case reset
    /// One side vanished without a FIN; the side the direction leads to gets a RST.
    case lost(Direction)
    /// Both sockets are closed; bytes that were passed on.
    case closed(toServer: Int, toClient: Int)
    /// New connections are refused from here on.
    case refusing
    /// New connections are accepted from here on.
    case listening
    /// The listener could not be opened again.
    case listenFailed(String)
    /// All standing faults were lifted.
    case healed
  }
}
