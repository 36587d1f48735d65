/// A link that goes down and comes up, again and again.
public struct Flap: Fault {
  /// How often it goes down.
  public var times: Int
  /// How long it is down each time: open connections reset, new ones refused.
  public var down: Duration
  /// How long it is up between.
  public var up: Duration

  /// Down, wait, up, wait, as often as asked.
  public var steps: [FaultStep] {
    let once: [FaultStep] = [.reset, .refuse, .wait(down), .listen, .wait(up)]
    return (0..<max(0, times)).flatMap { _ in once }
  }
}

extension Fault where Self == Flap {
  /// Down `times` times.
  public static func flap(times: Int, down: Duration, up: Duration) -> Flap {
    Flap(times: times, down: down, up: up)
  }
}
