public import BridgeErrors

/// One supervised connection: which generation is in use, what follows from a failure, and when to
/// try again.
///
/// A generation starts only after the one before has released descriptor and session, except that
/// a second one may be made ready while the first is only suspected.
public struct RecoveryStateMachine: Sendable {
  /// The state of a link.
  public enum State: Sendable, Equatable {
    /// Not started yet. Can become suspended, ready, closed.
    case idle
    /// Waits for a link that it depends on. Can become ready, waiting, closed.
    case suspended
    /// Waits for the next attempt. Can become ready, suspended, closed.
    case waiting(until: Moment)
    /// Waits for its turn to dial, or for its last generation to be torn down. Can become
    /// connecting, suspended, closed.
    case ready
    /// A generation is dialed. Can become up, ready, waiting, failed, suspended, closed.
    case connecting(generation: Int)
    /// A generation is in use. Can become degraded, ready, waiting, failed, suspended, closed.
    case up(generation: Int)
    /// In use, but the peer does not answer. Can become up, connecting, ready, waiting, failed,
    /// suspended, closed.
    case degraded(generation: Int)
    /// Nothing is tried until a person requests it. Can become ready, suspended, closed.
    case failed(AppError)
    /// Closed for good.
    case closed
  }

  /// An input of the machine.
  public enum Input: Sendable {
    /// It may start: everything it depends on is up.
    case start
    /// It has its turn to dial.
    case granted(isStandby: Bool)
    /// A generation connected.
    case connected(generation: Int)
    /// A generation failed.
    case failed(generation: Int, ConnectionError)
    /// A generation has released descriptor and session.
    case tornDown(generation: Int)
    /// The peer answered on this generation.
    case proved(generation: Int)
    /// Bytes of the peer came on this generation, the last at that instant.
    case heard(generation: Int, at: Moment)
    /// The connection of its next generation could not be made; nothing was dialed.
    case unprepared(isStandby: Bool, ConnectionError)
    /// This side gives a generation up; `isAsked`: the application requests another one.
    case restart(generation: Int, ConnectionError, isAsked: Bool)
    /// The peer of a generation does not answer; `wantsStandby`: a second one is to be made ready.
    case suspected(generation: Int, silentFor: Duration, wantsStandby: Bool = true)
    /// The suspected peer answered.
    case cleared(generation: Int)
    /// A timer fired.
    case timer(RecoveryTimer)
    /// Something it depends on went down; `since`: when that was heard last.
    case suspend(by: ConnectionID, since: Moment)
    /// A person, or a change of the network, requests an attempt now; `rearms`: also after it has
    /// given up; `restartsDial`: also in the place of a dial that is under way.
    case retryNow(rearms: Bool, restartsDial: Bool = false)
    /// The generation that was lost had been of use: the next one is dialed after this long, unless
    /// the server requires a wait.
    case redial(after: Duration)
    /// Its settings are replaced; `reconnects`: its connections are ended, and it must be started
    /// again.
    case change(RetryPolicy, retriesFirstDial: Bool, reconnects: Bool)
    /// It is closed for good.
    case close
  }

  /// An output, to be executed in order.
  public enum Output: Sendable {
    /// Request a turn to dial.
    case requestDial(isStandby: Bool, isForced: Bool)
    /// Withdraw the request.
    case withdrawRequest(isStandby: Bool)
    /// Make and connect a generation.
    case dial(generation: Int)
    /// Close a generation.
    case close(generation: Int)
    /// Put a generation into use.
    case promote(generation: Int)
    /// Probe the generation in use now.
    case disturb
    /// Set a timer.
    case setTimer(RecoveryTimer, at: Moment)
    /// Clear a timer.
    case clearTimer(RecoveryTimer)
    /// The dial that was granted (there is at most one) ended like this.
    case settleDial(DialOutcome)
    /// It is up; what depends on it may start.
    case up
    /// The generation in use is not any more, and was heard last at `since`; what depends on it
    /// must stop.
    case down(since: Moment)
    /// The generation in use ended.
    case lost(generation: Int, Loss)
    /// The link failed, and its second one took over, which is up.
    case replaced(generation: Int, wasHealthy: Bool)
    /// This side closes a generation that was up: no evidence about the host.
    case abandoned(generation: Int)
    /// The generation in use counts as healthy.
    case healthy(generation: Int)
    /// Show an error.
    case surface(SeverityQueue.Report)
    /// Take the shown error back.
    case withdraw
    /// Fail the callers that wait for the connection.
    case giveUp(AppError)
    /// Remove the connection.
    case retire
    /// Emit an event.
    case emit(RecoveryEvent.Step, generation: Int?)
  }

  /// How a generation in use ended, as far as its host is concerned.
  public enum Loss: Sendable, Equatable {
    /// It was cut, or went silent.
    case cut(wasHealthy: Bool)
    /// The peer ended it and said why: its host works; `isGoing`: it may be gone for a while.
    case answered(isGoing: Bool)
  }

  /// How a granted dial ended.
  public enum DialOutcome: Sendable {
    /// The host answered and the generation is up.
    case alive(generation: Int)
    /// The peer answered, and about this link alone; with an error that stops every dial to that
    /// host.
    case answered(stopping: AppError?)
    /// `isAsked`: the host requires that wait.
    case failed(DialCost, retryAt: Moment, isAsked: Bool)
    /// The dial was given up by this side.
    case withdrawn(wasBegun: Bool)
  }

  /// Its name.
  public let id: ConnectionID
  /// How often and how soon it is tried again.
  public internal(set) var policy: RetryPolicy
  /// Whether a first connection is tried again like a later one.
  public internal(set) var retriesFirstDial: Bool
  /// The state.
  public internal(set) var state = State.idle
  /// The last generation that was started; the first is 1.
  public internal(set) var generation = 0
  /// Messages from generations that are gone, ignored.
  public internal(set) var stale = 0

  var progress = RetryProgress()
  var standbyProgress = RetryProgress()
  /// The second connection; nil unless the link is suspected.
  var standby: Standby?
  /// What is known of the generation in use; nil while there is none.
  var use: Use?
  /// A second connection met what stops every dial to the host; it is not made again before that.
  var refusal: ConnectionError?
  var ending: Set<Int> = []
  var wasEverUp = false
  var hasRetriedOnce = false
  var isForced = false
  var attempts = 0
  var downSince: Moment?
  var drops: Drops?
  var closes: Closes?
  /// The server requires the current wait: only a person shortens it.
  var isAskedToWait = false
  /// Where it has given up: when, and whether for a reason that may pass.
  var gaveUp: (at: Moment, isPassing: Bool)?

  /// Creates the machine of a connection that was not started yet.
  public init(id: ConnectionID, policy: RetryPolicy = .persistent, retriesFirstDial: Bool = false) {
    self.id = id
    self.policy = policy
    self.retriesFirstDial = retriesFirstDial
  }

  /// The generation in use, whether its peer answers or not.
  public var live: Int? {
    switch state {
    case .up(let generation), .degraded(let generation): generation
    case .idle, .suspended, .waiting, .ready, .connecting, .failed, .closed: nil
    }
  }

  /// The generation in use or on its way to be.
  public var current: Int? {
    if case .connecting(let generation) = state { return generation }
    return live
  }

  /// Takes an input at `now` and returns the outputs, in order.
  public mutating func step(
    _ input: Input, at now: Moment, using generator: inout some RandomNumberGenerator
  ) -> [Output] {
    if state == .closed { return afterTheEnd(input) }
    return switch input {
    case .start: start(at: now)
    case .granted(let isStandby): granted(isStandby: isStandby)
    case .connected(let generation): connected(generation, at: now)
    case .failed(let generation, let failure):
      failed(generation, failure, at: now, using: &generator)
    case .tornDown(let generation): tornDown(generation)
    case .proved(let generation): proved(generation, at: now)
    case .heard(let generation, let instant): heard(generation, at: instant, now: now)
    case .unprepared(let isStandby, let failure):
      unprepared(isStandby: isStandby, failure, at: now, using: &generator)
    case .restart(let generation, let failure, let isAsked):
      restart(generation, failure, isAsked: isAsked, at: now, using: &generator)
    case .suspected(let generation, let silent, let wantsStandby):
      suspected(
        generation, silentFor: silent, wantsStandby: wantsStandby, at: now, using: &generator)
    case .cleared(let generation): cleared(generation, at: now)
    case .timer(let timer): fired(timer, at: now)
    case .suspend(let parent, let since): suspend(by: parent, since: since, at: now)
    case .retryNow(let rearms, let restartsDial):
      retryNow(rearms: rearms, restartsDial: restartsDial, at: now)
    case .redial(let delay): redial(after: delay, at: now)
    case .change(let policy, let retriesFirstDial, let reconnects):
      change(policy, retriesFirstDial: retriesFirstDial, reconnects: reconnects, at: now)
    case .close: close(at: now)
    }
  }

  private mutating func afterTheEnd(_ input: Input) -> [Output] {
    switch input {
    case .tornDown(let generation), .timer(.teardown(_, let generation)):
      guard ending.remove(generation) != nil else { return [] }
      return [.clearTimer(.teardown(id, generation: generation))]
        + (ending.isEmpty ? [.retire] : [])
    case .start, .granted, .connected, .failed, .proved, .heard, .unprepared, .restart, .suspected,
      .cleared, .timer, .suspend, .retryNow, .redial, .change, .close:
      return []
    }
  }

  private mutating func start(at now: Moment) -> [Output] {
    switch state {
    case .idle:
      downSince = now
      return wantDial()
    case .suspended:
      return [.emit(.resumed, generation: nil)] + wantDial()
    case .waiting, .ready, .connecting, .up, .degraded, .failed, .closed:
      return []
    }
  }

  private mutating func granted(isStandby: Bool) -> [Output] {
    if isStandby {
      guard standby == .wanted else {
        return [.settleDial(.withdrawn(wasBegun: false))]
      }
      generation += 1
      standby = .dialing(generation: generation)
      return [
        .emit(.attempted(number: 1, isStandby: true), generation: generation),
        .dial(generation: generation),
      ]
    }
    guard state == .ready, ending.isEmpty else {
      return [.settleDial(.withdrawn(wasBegun: false))]
    }
    isForced = false
    generation += 1
    attempts += 1
    state = .connecting(generation: generation)
    return [
      .emit(.attempted(number: attempts, isStandby: false), generation: generation),
      .dial(generation: generation),
    ]
  }

  private mutating func connected(_ generation: Int, at now: Moment) -> [Output] {
    if case .connecting(generation) = state {
      return [.settleDial(.alive(generation: generation))] + takeOver(generation, at: now)
    }
    if standby == .dialing(generation: generation) {
      standby = .up(generation: generation)
      return [.settleDial(.alive(generation: generation))]
    }
    stale += 1
    return []
  }

  /// `generation` is the one in use from now on.
  mutating func takeOver(_ generation: Int, at now: Moment) -> [Output] {
    let outage = downSince.map { now - $0 }
    let recovered = RecoveryEvent.Step.recovered(
      after: outage ?? .zero, attempts: attempts, isFirst: !wasEverUp)
    state = .up(generation: generation)
    use = Use(since: now, contact: .calm(since: now))
    (downSince, wasEverUp) = (nil, true)
    attempts = 0
    (drops, refusal) = (nil, nil)
    return [
      .promote(generation: generation), .emit(recovered, generation: generation), .withdraw,
      .setTimer(.health(id), at: now + RecoveryDefaults.healthyAfter), .up,
    ]
  }

  mutating func tornDown(_ generation: Int) -> [Output] {
    guard ending.remove(generation) != nil else { return [] }
    let outputs: [Output] = [.clearTimer(.teardown(id, generation: generation))]
    guard ending.isEmpty else { return outputs }
    if state == .ready {
      return outputs + [.requestDial(isStandby: false, isForced: isForced)]
    }
    return standby == .wanted ? outputs + wantStandby() : outputs
  }

  /// Requests a dial as soon as the last generation is torn down.
  mutating func wantDial(isForced: Bool = false) -> [Output] {
    state = .ready
    self.isForced = isForced
    return ending.isEmpty ? [.requestDial(isStandby: false, isForced: isForced)] : []
  }

  /// Closes `generation` and waits for it to be gone.
  mutating func end(_ generation: Int, at now: Moment) -> [Output] {
    ending.insert(generation)
    let limit = RecoveryTimer.teardown(id, generation: generation)
    return [
      .close(generation: generation),
      .setTimer(limit, at: now + RecoveryDefaults.teardownLimit),
    ]
  }
}
