/// How soon a change of the network is reported after the one before.
///
/// What is reported begins dials anew that nothing has answered: a route that comes and goes must
/// not keep a far host from ever being reached. So the pause doubles while changes go on.
struct ChangePace {
  static let shortest = Duration.seconds(5)
  static let longest = Duration.seconds(300)

  private var pause = Self.shortest
  private var last: ContinuousClock.Instant?

  /// How long a change that is there at `now` is still held back.
  func delay(at now: ContinuousClock.Instant) -> Duration {
    guard let last else { return .zero }
    return max(.zero, pause - (now - last))
  }

  /// A change is reported.
  mutating func report(at now: ContinuousClock.Instant) {
    let isQuiet = last.map { now - $0 > Self.longest * 2 } ?? true
    pause = isQuiet ? Self.shortest : min(pause * 2, Self.longest)
    last = now
  }
}
