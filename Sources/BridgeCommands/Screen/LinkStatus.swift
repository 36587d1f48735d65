package import BridgeErrors
package import BridgeRecovery

/// The state of the link as a person sees it, from the supervisor's events: without I/O, so that
/// every screen is a test.
package struct LinkStatus: Sendable {
  /// The states of the link.
  enum State: Sendable {
    /// No connection was up yet. Can become up, over.
    case opening(Outage)
    /// A generation is in use, and answers. Can become suspected, down, over.
    case up(generation: Int?)
    /// A generation is in use, and does not answer. Can become up, down, over.
    case suspected(generation: Int?, Outage)
    /// No generation is in use. Can become up, over.
    case down(Outage)
    /// Nothing more is tried: the last line of the run says why. Can become up, down.
    case over(wasUp: Bool)
  }

  /// What is known about the time without an answer.
  struct Outage: Sendable {
    /// How it began.
    enum Start: Sendable {
      /// The peer fell silent: when it was heard last.
      case silent(since: Moment)
      /// The connection was cut.
      case cut(at: Moment)
    }

    /// The next step.
    enum Activity: Sendable {
      case none
      case waiting(RecoveryPlan, until: Moment)
      case trying(number: Int)
    }

    var start: Start
    var activity = Activity.none {
      didSet { if case .trying(let number) = activity { attempt = number } }
    }
    /// The number of the last attempt.
    private(set) var attempt = 1
    var attemptsLeft: Int?
    /// Why no connection is up, as far as is known.
    var failure: ConnectionError?
    /// The error that the supervisor wants to be seen.
    var shown: PresentedError?
  }

  /// A line that goes by itself.
  package struct Hint: Sendable {
    let text: String
    let end: Moment

    /// A line that is to be read in `time` from `now` on.
    package init(_ text: String, for time: Duration, at now: Moment) {
      (self.text, end) = (text, now + time)
    }
  }

  /// A session that does not go on over a link that is up.
  package struct Stall: Sendable {
    /// When its channel was lost, or its link came back, whichever was later.
    package var since: Moment
    /// Why the host does not go on with it; nil before it has said so.
    package var reason: String?

    /// A session that has no answer since then.
    package init(since: Moment, reason: String? = nil) {
      self.since = since
      self.reason = reason
    }
  }

  /// What the user has asked for in an outage.
  package enum Answer: Sendable, Equatable {
    /// Who logs in where, cause and remedy.
    case status(login: String)
    /// Lines that do not change.
    case lines([String])
  }

  private(set) var state: State
  /// How many typed bytes were lost with the link.
  package var lostBytes = 0
  /// Whether the program goes on while the link is down.
  package var outlivesLink = false
  /// The key that leaves when it is typed once more.
  package var disconnecting: LinkKeys.Way?
  /// How long the link was down, in seconds, where the user is asked whether what was typed then is
  /// sent.
  package var askedAfter: Int?
  /// How long the peer was not heard in the last outage.
  private(set) var lastOutage = Duration.zero
  /// A word about the screen while all is well: what it says, and until when.
  package var hint: Hint?
  /// Shown until the outage is over.
  package private(set) var answer: Answer?
  /// Since when the session of a link that is up has no answer, and why where that is known.
  package var stall: Stall?
  let host: String
  /// The jump host that a failure is about; nil where it is the host's own.
  let jumpHost: @Sendable (FailureContext?) -> CommandFailure.JumpHost?
  /// What stands for the tilde.
  let escape: String
  /// What was said where nothing can be erased.
  var log = Log()

  /// Creates the status of the link to `host`, which is escaped.
  package init(
    host: String, escape: String = "~", at now: Moment = .now,
    jumpHost: @escaping @Sendable (FailureContext?) -> CommandFailure.JumpHost? = { _ in nil }
  ) {
    (self.host, self.escape, self.jumpHost) = (host, escape, jumpHost)
    state = .opening(Outage(start: .cut(at: now)))
  }

  /// Takes one event in.
  package mutating func see(_ event: RecoveryEvent) {
    switch event.step {
    case .attempted(let number, isStandby: false):
      beginAgain(at: event.at)
      setActivity(.trying(number: number), standby: false)
    case .attempted(_, isStandby: true): setActivity(.trying(number: 1), standby: true)
    case .recovered:
      noteEnd(at: event.at)
      comeUp(event.generation)
      stall?.since = event.at
    case .failed(let failure): fail(failure, event)
    case .waiting(let plan):
      setActivity(.waiting(plan, until: event.at + (plan.at ?? .zero)), standby: false)
      change { $0.attemptsLeft = plan.attemptsLeft }
    case .suspected(let silent): suspect(since: event.at - silent)
    case .cleared:
      noteEnd(at: event.at)
      if case .suspected(let generation, _) = state { state = .up(generation: generation) }
      answer = nil
    case .surfaced(let error): surface(error)
    case .withdrawn(let id): change { if $0.shown?.id == id { $0.shown = nil } }
    case .switched:
      goDown(at: event.at)
      setActivity(.trying(number: 1), standby: false)
    // Something that it depends on is down.
    case .suspended: goDown(at: event.at)
    case .gaveUp: state = .over(wasUp: wasUp)
    case .entered, .becameHealthy, .classified, .resumed, .lingered, .changed, .closed, .missed:
      break
    }
  }

  /// A person may have chosen to try again.
  private mutating func beginAgain(at now: Moment) {
    guard case .over(let wasUp) = state else { return }
    let outage = Outage(start: .cut(at: now))
    state = wasUp ? .down(outage) : .opening(outage)
  }

  private mutating func noteEnd(at now: Moment) {
    switch state {
    case .suspected(_, let outage), .down(let outage): lastOutage = outage.time(at: now)
    case .opening, .up, .over: break
    }
  }

  private mutating func comeUp(_ generation: Int?) {
    state = .up(generation: generation)
    (lostBytes, disconnecting, answer) = (0, nil, nil)
    log.lastMessage = nil
  }

  /// A generation that is not in use may fail too: a standby, or one that was replaced.
  private mutating func fail(_ error: ConnectionError, _ event: RecoveryEvent) {
    switch state {
    case .up(let generation), .suspected(let generation, _):
      guard generation == event.generation else { return setActivity(.none, standby: true) }
      goDown(at: event.at)
    case .opening, .down: setActivity(.none, standby: false)
    case .over: return
    }
    change { $0.failure = error }
  }

  private mutating func suspect(since heard: Moment) {
    switch state {
    case .up(let generation):
      state = .suspected(generation: generation, Outage(start: .silent(since: heard)))
    case .suspected: change { $0.start = .silent(since: heard) }
    case .opening, .down, .over: break
    }
  }

  private mutating func goDown(at now: Moment) {
    switch state {
    case .up: state = .down(Outage(start: .cut(at: now)))
    case .suspected(_, let outage): state = .down(outage)
    case .opening, .down, .over: break
    }
  }

  /// What nothing more is tried about ends the run, and its last line says it; a second connection
  /// that is refused says nothing about the one in use.
  private mutating func surface(_ error: PresentedError) {
    let isFinal = error.plan?.next == .giveUp || error.plan?.next == .askPerson
    switch state {
    case .opening, .down:
      if isFinal { state = .over(wasUp: wasUp) } else { change { $0.shown = error } }
    case .suspected: if !isFinal { change { $0.shown = error } }
    case .up, .over: break
    }
  }

  private mutating func setActivity(_ activity: Outage.Activity, standby: Bool) {
    let isSuspected = if case .suspected = state { true } else { false }
    if isSuspected == standby { change { $0.activity = activity } }
  }

  private mutating func change(_ body: (inout Outage) -> Void) {
    switch state {
    case .opening(var outage):
      body(&outage)
      state = .opening(outage)
    case .suspected(let generation, var outage):
      body(&outage)
      state = .suspected(generation: generation, outage)
    case .down(var outage):
      body(&outage)
      state = .down(outage)
    case .up, .over: break
    }
  }

  /// Whether it was ever up.
  package var wasUp: Bool {
    switch state {
    case .opening: false
    case .up, .suspected, .down: true
    case .over(let wasUp): wasUp
    }
  }

  /// Whether it was up, and does not answer or is down: from the first suspicion to the end.
  package var isOut: Bool {
    switch state {
    case .suspected, .down: true
    case .opening, .up, .over: false
    }
  }

  /// Whether there is something to say that changes with time.
  package var isTicking: Bool {
    if case .opening(let outage) = state { return outage.shown != nil }
    return isOut || askedAfter != nil || hint != nil || stall != nil
  }

  /// Shows what the user has asked for; takes it away where it is shown.
  package mutating func toggle(_ answer: Answer) {
    self.answer = self.answer == answer ? nil : answer
  }

  /// Takes away what was to be read until `now`.
  package mutating func dropHint(at now: Moment) {
    if let hint, hint.end <= now { self.hint = nil }
  }
}

extension LinkStatus.Outage {
  /// How long the peer was not heard at `now`.
  func time(at now: Moment) -> Duration {
    switch start {
    case .silent(let since): now - since
    case .cut(let since): now - since
    }
  }

  /// The seconds until the next attempt at `now`; nil where it is due, and in waits that are too
  /// short to be counted down.
  func secondsLeft(at now: Moment) -> Int? {
    guard case .waiting(let plan, let until) = activity, now < until,
      (plan.at ?? .zero) > .seconds(1)
    else { return nil }
    return Int(((until - now) / .seconds(1)).rounded(.up))
  }

  /// The number of an attempt, and how many follow where there is an end.
  func count(_ attempt: Int) -> String {
    "\(attempt)" + (attemptsLeft.map { ", \($0) left" } ?? "")
  }

  /// The plan as it is at `now`.
  func plan(at now: Moment) -> RecoveryPlan {
    switch activity {
    case .waiting(var plan, _):
      plan.at = .seconds(secondsLeft(at: now) ?? 0)
      return plan
    case .trying(let number):
      return RecoveryPlan(next: .reconnect, attempt: number, attemptsLeft: attemptsLeft)
    case .none:
      return RecoveryPlan(next: .reconnect, attempt: attempt, attemptsLeft: attemptsLeft)
    }
  }
}
