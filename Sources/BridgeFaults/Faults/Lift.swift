/// The end of all standing faults: shapers are gone, what was frozen goes on, those held are
/// connected, the listener is open. Clients that were ignored and still wait stay ignored.
public struct Lift: Fault {
  /// Connections open now and later.
  public var scope: FaultScope { .all }
  /// Clear, thaw, forward, listen.
  public var steps: [FaultStep] { [.clear, .thaw, .admit(.forward), .listen] }
}

extension Fault where Self == Lift {
  /// Ends all standing faults; what is still to come of a timeline comes.
  public static var lift: Lift { Lift() }
}
