/// FIN in one direction, or in both, behind what is on its way.
public struct HalfClose: Fault {
  /// The directions of the FIN.
  public var directions: Set<Direction>

  /// One step.
  public var steps: [FaultStep] { [.finish(directions)] }
}

extension Fault where Self == HalfClose {
  /// FIN in these directions; in both it is an orderly close.
  public static func halfClose(_ directions: Set<Direction>) -> HalfClose {
    HalfClose(directions: directions)
  }
}
