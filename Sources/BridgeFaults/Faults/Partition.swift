/// The network is cut in two: open connections are frozen for good, new ones wait unanswered and
/// go on once it is whole again.
public struct Partition: Fault {
  /// For how long; nil: until healed (which thaws the frozen ones too).
  public var duration: Duration?

  /// Freeze and hold, and forward again when it is not for good.
  public var steps: [FaultStep] {
    let cut: [FaultStep] = [.freeze(.both), .admit(.hold)]
    guard let duration else { return cut }
    return cut + [.wait(duration), .admit(.forward)]
  }
}

extension Fault where Self == Partition {
  /// Old connections frozen for good, new ones held for a while or until healed.
  public static func partition(for duration: Duration? = nil) -> Partition {
    Partition(duration: duration)
  }
}
