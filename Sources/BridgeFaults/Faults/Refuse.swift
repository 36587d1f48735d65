/// No listener: new connections are refused, open ones live on.
public struct Refuse: Fault {
  /// For how long; nil: until healed.
  public var duration: Duration?

  /// Refuse, and listen again when it is not for good.
  public var steps: [FaultStep] {
    guard let duration else { return [.refuse] }
    return [.refuse, .wait(duration), .listen]
  }
}

extension Fault where Self == Refuse {
  /// Refuses new connections for a while, or until healed.
  public static func refuse(for duration: Duration? = nil) -> Refuse { Refuse(duration: duration) }
}
