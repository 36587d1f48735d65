/// Something that happens to links: a list of steps, taken in order.
///
/// A fault is a value and does nothing by itself; the proxy takes its steps. To write one, copy the
/// smallest file of this folder; docs/writing-a-fault.md says how.
public protocol Fault: Sendable {
  /// The steps, in order. Steps up to the first `wait` are taken before `inject` returns.
  var steps: [FaultStep] { get }

  /// Which connections it meets unless `inject` says otherwise.
  var scope: FaultScope { get }
}

extension Fault {
  /// The connections open now.
  public var scope: FaultScope { .live }
}

/// One thing a proxy does to its links.
public enum FaultStep: Sendable {
  /// From now on what travels in these directions passes this shaper too.
  case shape(Set<Direction>, any Shaper)
  /// Takes the shapers away, and what later connections were to meet.
  case clear
  /// No byte and no end passes in these directions; all sockets stay open.
  case freeze(Set<Direction>)
  /// Frozen bytes continue; nothing is lost.
  case thaw
  /// RST to both sides.
  case reset
  /// FIN in these directions, behind what is on its way; what comes later is read and dropped.
  case finish(Set<Direction>)
  /// Sets the admission of connections accepted from now on.
  case admit(Admission)
  /// Closes the listener: new connections are refused.
  case refuse
  /// Opens it again, on the same port.
  case listen
  /// The steps behind it are taken later by this much.
  case wait(Duration)
}

/// The direction of bytes.
public enum Direction: Sendable, Hashable, CaseIterable {
  /// From the client to the server.
  case toServer
  /// From the server to the client.
  case toClient

  /// The way back.
  public var opposite: Direction {
    switch self {
    case .toServer: .toClient
    case .toClient: .toServer
    }
  }
}

extension Set<Direction> {
  /// Both directions.
  public static var both: Set<Direction> { [.toServer, .toClient] }
}

/// Which connections a fault meets.
public enum FaultScope: Sendable, Hashable {
  /// The connections that are open now.
  case live
  /// The connections that are open now, and every later one until `heal`.
  case all
  /// Only the next one to be accepted.
  case next
  /// One, by its number in the event log.
  case connection(Int)
}

/// The treatment of an accepted connection.
public enum Admission: Sendable, Hashable {
  /// It is connected to the server.
  case forward
  /// It is held unanswered, and connected once `forward` is ordered again.
  case hold
  /// It is never answered.
  case ignore
}
