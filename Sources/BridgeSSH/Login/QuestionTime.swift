/// How long a person took to answer: one question at a time.
struct QuestionTime {
  private var answered = Duration.zero
  private var since: ContinuousClock.Instant?

  mutating func begin(at now: ContinuousClock.Instant) { since = now }

  mutating func end(at now: ContinuousClock.Instant) {
    answered = total(at: now)
    since = nil
  }

  /// Time that was measured elsewhere.
  mutating func add(_ time: Duration) { answered += time }

  /// With the present question's time so far.
  func total(at now: ContinuousClock.Instant) -> Duration {
    answered + (since.map { now - $0 } ?? .zero)
  }
}
