/// How fast a peer takes what is sent, measured where more is there than it takes: it decides how
/// much is under way, since what is under way cannot be taken back when a key is pressed.
package struct SendingPace: Sendable {
  /// Bytes in a second; nil before the first measurement.
  private(set) var rate: UInt64?
  /// The shortest time from a byte to its acknowledgement.
  private var shortest: Milliseconds?
  private var probe: Probe?

  private struct Probe {
    var end: UInt64
    var taken: UInt64
    var since: Milliseconds
    /// More was there than was sent, all the time.
    var isLimited: Bool
  }

  package init() {}

  /// What is known of the link, for another stream over it.
  package var atRest: SendingPace {
    var pace = self
    pace.probe = nil
    return pace
  }

  /// Records what was sent.
  /// - Parameters:
  ///   - taken: the bytes that were acknowledged, without those left out.
  ///   - end: the same with those that are under way.
  ///   - isLimited: whether there is more.
  package mutating func sent(taken: UInt64, end: UInt64, isLimited: Bool, at now: Milliseconds) {
    if probe != nil {
      if !isLimited { probe?.isLimited = false }
    } else if end > taken {
      probe = Probe(end: end, taken: taken, since: now, isLimited: isLimited)
    }
  }

  /// Measures once the bytes of the probe were acknowledged.
  package mutating func acknowledged(_ taken: UInt64, at now: Milliseconds) {
    guard let done = probe, taken >= done.end else { return }
    probe = nil
    let time = max(1, now - min(now, done.since))
    shortest = min(shortest ?? time, time)
    let measured = (taken - done.taken) * 1000 / time
    // A program that prints little says nothing about the link.
    if done.isLimited || measured > rate ?? 0 { rate = measured }
  }

  /// How much may be under way, of a window: what is taken within a moment, and at first little. It
  /// grows by itself, because a link that is not full takes it in less time.
  package func window(of largest: UInt64 = .max) -> UInt64 {
    let time = max(Self.time, (shortest ?? 0) * 5 / 4)
    return min(largest, max(Limits.smallestPace, bytes(in: time) ?? 0))
  }

  /// How much is taken in a time; nil where that is not known.
  func bytes(in time: Milliseconds) -> UInt64? {
    rate.map { $0.multipliedReportingOverflow(by: time) }.map { $1 ? .max : $0 / 1000 }
  }

  private static let time: Milliseconds = 400
}
