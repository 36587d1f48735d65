import BridgeErrors

/// How long a person took to answer: one question at a time.
struct QuestionTime {
  private var answered = Duration.zero
  private var present: (phase: ConnectionPhase, since: ContinuousClock.Instant)?

  /// The phase of the question that a person is asked now.
  var phase: ConnectionPhase? { present?.phase }

  mutating func begin(in phase: ConnectionPhase, at now: ContinuousClock.Instant) {
    present = (phase, now)
  }

  mutating func end(at now: ContinuousClock.Instant) {
    answered = total(at: now)
    present = nil
  }

  /// Time that was measured elsewhere.
  mutating func add(_ time: Duration) { answered += time }

  /// With the present question's time so far.
  func total(at now: ContinuousClock.Instant) -> Duration {
    answered + (present.map { now - $0.since } ?? .zero)
  }
}
