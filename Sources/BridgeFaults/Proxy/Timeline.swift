/// Faults with their times: a script for a proxy.
///
/// ```swift
/// let timeline = Timeline()
///   .at(.milliseconds(100), .latency(.milliseconds(50)))
///   .at(.seconds(1), .partition(for: .seconds(2)))
///   .at(.seconds(5), .lift)
/// await proxy.play(timeline)
/// ```
public struct Timeline: Sendable {
  /// One fault and when it happens.
  public struct Moment: Sendable {
    /// Counted from `play`.
    public var at: Duration
    /// The fault.
    public var fault: any Fault
    /// Which connections it meets; nil is the fault's own choice.
    public var scope: FaultScope?
  }

  /// In the order they were added; moments of one instant happen in that order.
  public private(set) var moments: [Moment] = []

  /// Creates an empty timeline.
  public init() {}

  /// The same, and one more fault at a time counted from `play`.
  public func at(_ time: Duration, _ fault: some Fault, on scope: FaultScope? = nil) -> Timeline {
    var longer = self
    longer.moments.append(Moment(at: time, fault: fault, scope: scope))
    return longer
  }

  /// Draws so many faults from those given, spread over a time; the same for the same seed.
  public static func drawn(
    _ count: Int, of faults: [any Fault], over time: Duration, seed: UInt64
  ) -> Timeline {
    var generator = SplitMix64(seed: seed)
    var timeline = Timeline()
    for _ in 0..<count {
      guard let fault = faults.randomElement(using: &generator) else { break }
      let at = time * Double.random(in: 0..<1, using: &generator)
      timeline.moments.append(Moment(at: at, fault: fault, scope: nil))
    }
    timeline.moments.sort { $0.at < $1.at }
    return timeline
  }
}
