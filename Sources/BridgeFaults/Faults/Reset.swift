/// RST to both sides of every open connection.
public struct Reset: Fault {
  /// One step.
  public var steps: [FaultStep] { [.reset] }
}

extension Fault where Self == Reset {
  /// RST to both sides of every open connection.
  public static var reset: Reset { Reset() }
}
