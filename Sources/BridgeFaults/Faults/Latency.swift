/// A delay of all bytes: a time, give or take a jitter drawn anew for each portion.
///
/// Order is kept, so a late portion holds up those behind it, as in a real TCP stream.
public struct Latency: Fault, Shaper {
  /// The middle of the delay, for one direction.
  public var delay: Duration
  /// How far it strays to either side.
  public var jitter: Duration
  /// The delayed directions.
  public var directions: Set<Direction>

  /// Connections open now and later.
  public var scope: FaultScope { .all }
  /// One step.
  public var steps: [FaultStep] { [.shape(directions, self)] }

  /// Adds the delay.
  public mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    var late = portion
    late.due += max(.zero, delay + jitter * Double.random(in: -1...1, using: &generator))
    return [late]
  }
}

extension Fault where Self == Latency {
  /// Adds `delay` ± `jitter` to each of these directions.
  public static func latency(
    _ delay: Duration, jitter: Duration = .zero, _ directions: Set<Direction> = .both
  ) -> Latency { Latency(delay: delay, jitter: jitter, directions: directions) }
}
