/// New connections are accepted and never answered; open ones live on.
public struct Silence: Fault {
  /// For how long they are accepted so; nil: until healed.
  public var duration: Duration?

  /// Ignore, and forward again when it is not for good.
  public var steps: [FaultStep] {
    guard let duration else { return [.admit(.ignore)] }
    return [.admit(.ignore), .wait(duration), .admit(.forward)]
  }
}

extension Fault where Self == Silence {
  /// Accepts new connections and stays silent.
  public static func silence(for duration: Duration? = nil) -> Silence {
    Silence(duration: duration)
  }
}
