import BridgeFaults

/// Every so many bytes the line stops for a moment.
struct Stutter: Fault, Shaper {
  /// Bytes between two stops.
  var interval: Int
  /// How long it stops.
  var pause: Duration
  private var sinceStop = 0
  private var stopped = Duration.zero

  init(every interval: Int, for pause: Duration) {
    self.interval = interval
    self.pause = pause
  }

  /// Connections open now, and later ones until `heal`.
  var scope: FaultScope { .all }
  /// One step: from now on both directions pass through a copy of this shaper.
  var steps: [FaultStep] { [.shape(.both, self)] }

  /// Moves what comes after a stop by all the stops there were.
  mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    sinceStop += portion.count
    if sinceStop >= interval {
      sinceStop = 0
      stopped += pause
    }
    var late = portion
    late.due += stopped
    return [late]
  }
}

extension Fault where Self == Stutter {
  static func stutter(every interval: Int, for pause: Duration) -> Stutter {
    Stutter(every: interval, for: pause)
  }
}
