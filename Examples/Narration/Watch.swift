public import BridgeErrors
public import BridgeRecovery

/// Reads a supervisor's events in order and tells them as they are read.
public struct Watch<Events: AsyncSequence> where Events.Element == RecoveryEvent {
  private var events: Events.AsyncIterator
  private let story: Story

  /// Tells `events` in `story`. Nothing that happened before is lost: the events are subscribed to.
  public init(_ events: Events, in story: Story) {
    self.events = events.makeAsyncIterator()
    self.story = story
  }

  /// Reads on until the event that matches, and returns what was read, that one last.
  ///
  /// - Throws: `StoryError.neverHappened` when the events end before.
  @discardableResult
  public mutating func until(
    _ what: String, _ matches: (RecoveryEvent.Step) -> Bool
  ) async throws -> [RecoveryEvent] {
    var read: [RecoveryEvent] = []
    while let event = try await events.next(isolation: #isolation) {
      read.append(event)
      if let (topic, text) = event.told { await story.say(topic, text) }
      if matches(event.step) { return read }
    }
    throw StoryError.neverHappened(what)
  }

  /// Reads on until the connection is up (again).
  @discardableResult
  public mutating func untilUp() async throws -> [RecoveryEvent] {
    try await until("a connection") { if case .recovered = $0 { true } else { false } }
  }

  /// Reads on until a person is shown an error with this case name.
  @discardableResult
  public mutating func untilShown(_ caseName: String) async throws -> [RecoveryEvent] {
    try await until("an error to show") {
      if case .surfaced(let shown) = $0 { shown.error.caseName == caseName } else { false }
    }
  }
}

extension Sequence<RecoveryEvent> {
  /// How often a dial was tried in these events.
  public var attempts: Int {
    count { if case .attempted = $0.step { true } else { false } }
  }

  /// When the dials in these events began.
  public var dialTimes: [Moment] {
    compactMap { if case .attempted = $0.step { $0.at } else { nil } }
  }

  /// When something failed in these events.
  public var failureTimes: [Moment] {
    compactMap { if case .failed = $0.step { $0.at } else { nil } }
  }

  /// The errors in these events, in order.
  public var errors: [AppError] {
    compactMap { if case .failed(let failure) = $0.step { failure.error } else { nil } }
  }
}

extension RecoveryEvent {
  /// The event as a line of a story; nil for what only a machine wants to know.
  fileprivate var told: (Story.Topic, String)? {
    switch step {
    case .attempted(let number, let isStandby):
      (.attempt, isStandby ? "dials a second link beside the doubtful one" : "dial \(number)")
    case .failed(let failure):
      (.error, "[\(failure.error.caseName)] \(failure.shownMessage)")
    case .classified(let retry): (.plan, retry.explanation)
    case .waiting(let plan): (.plan, plan.told)
    case .recovered(let after, let attempts, let isFirst):
      (.recovery, isFirst ? "connected" : "up again after \(after.told), dials: \(attempts)")
    case .suspected(let silent): (.error, "nothing heard for \(silent.told): in doubt")
    case .cleared: (.recovery, "heard again: no doubt any more")
    case .switched: (.recovery, "the second link takes over")
    case .suspended(let parent): (.plan, "suspended by \(parent)")
    case .resumed: (.plan, "goes on")
    case .gaveUp(let failure, _): (.plan, "gives up with [\(failure.error.caseName)]")
    case .surfaced(let shown):
      (.person, "is shown: \(shown.error.title) (\(shown.error.severity))")
    case .withdrawn: (.person, "sees the error go")
    case .missed(let count): (.error, "\(count) events were missed")
    case .entered, .becameHealthy, .lingered, .changed, .closed: nil
    }
  }
}

extension RecoveryPlan {
  fileprivate var told: String {
    let when = at.map { " in \($0.told)" } ?? ""
    return "\(next.rawValue)\(when), attempt \(attempt)"
  }
}

extension Duration {
  /// "0.12 s".
  public var told: String { "\((self / .milliseconds(10)).rounded() / 100) s" }
}
