public import BridgeErrors
public import BridgeRecovery
import BridgeTransport

/// Keeps connections up, runs operations again that failed in passing, and shows the most severe
/// error with its options.
///
/// It decides nothing: `SupervisorStateMachine` answers every event with actions, and one switch
/// carries them out. It owns no time and no chance but those it was given.
public actor Supervisor<C: Clock> where C.Duration == Duration {
  /// Carries out an option that a person chose; what it throws is how it failed,
  /// `OptionUnavailable` where it does not do that one.
  public typealias OptionHandler =
    @Sendable (ErrorRecoveryOption.Kind, PresentedError) async throws -> Void

  /// What a timer of this supervisor is for.
  enum Timer: Hashable {
    case recovery(RecoveryTimer)
    /// The next look at the peer of a connection.
    case liveness(ConnectionID)
    /// The end of the time that a dial may take.
    case attempt(ConnectionID, generation: Int)
    /// The end of the time that a handler waits for the one before it.
    case handOver(ConnectionID)
    /// The next look at whether the machine was suspended.
    case pulse
  }

  /// One generation of one connection.
  struct Generation {
    /// nil until it is made.
    var connection: (any Connection)?
    var connecting: Task<Void, Never>?
    var proving: Task<Void, Never>?
    var reading: Task<Void, Never>?
    var closing: Task<Void, Never>?
    var using: Task<Void, Never>?
    /// How far the dial has come.
    var phase = ConnectionPhase.resolve
    /// `open` has returned.
    var isOpen = false
    /// What its events say that it ended with.
    var loss: ConnectionError?
  }

  struct Watch {
    var generation: Int
    var liveness: Liveness
    var probe: Task<Void, Never>?
    var look: Task<Void, Never>?
  }

  /// A call of `onConnected`.
  struct Use {
    var generation: Int
    var connection: any Connection
    var plan: SupervisedConnection
  }

  /// The calls of `onConnected` of one link: one at a time.
  struct HandOver {
    var running: Int?
    var waiting: [Use] = []
  }

  struct Waiter {
    var id: ConnectionID
    var continuation: CheckedContinuation<Result<any Connection, AppError>, Never>
  }

  /// The wait of an operation before it is run again; `isAsked`: its server asked for it.
  struct Pause {
    var sleep: Task<Void, any Error>
    var isAsked: Bool
  }

  nonisolated let clock: C
  nonisolated let policy: RetryPolicy
  nonisolated let executor: (any TaskExecutor)?
  nonisolated let callbackExecutor: (any TaskExecutor)?
  nonisolated let feed = EventFeed()
  let onOption: OptionHandler?
  let suspension: (@Sendable () -> Duration)?
  private nonisolated let origin: C.Instant
  nonisolated let epoch: Moment

  /// The decisions; a simulation looks into them.
  package var machine: SupervisorStateMachine
  var chance: SeededGenerator
  var plans: [ConnectionID: SupervisedConnection] = [:]
  var generations: [ConnectionID: [Int: Generation]] = [:]
  var watches: [ConnectionID: Watch] = [:]
  var waiters: [Int: Waiter] = [:]
  var pauses: [Int: Pause] = [:]
  var suspensionWatch: SuspensionWatch?
  var lastTicket = 0
  var isShutDown = false
  /// How many `onConnected` have not returned.
  var uses = 0
  var handOvers: [ConnectionID: HandOver] = [:]
  private var timers = DeadlineQueue<Timer>()
  private var alarm: (number: Int, at: Moment, task: Task<Void, Never>)?
  private var alarms = 0
  /// The timers have changed since the alarm was set.
  private var isAlarmStale = false

  /// A supervisor without connections.
  ///
  /// - Parameters:
  ///   - clock: the only time it knows.
  ///   - policy: for operations; connections bring their own.
  ///   - seed: all the chance there is; nil for one that differs between processes.
  ///   - executor: where its tasks run; nil for the global pool.
  ///   - callbackExecutor: where `onConnected` and chosen options run, which may block; nil for the
  ///     global pool.
  ///   - queueCapacity: errors shown and waiting at most.
  ///   - onOption: carries out chosen options other than those that the supervisor does itself;
  ///     without one those are not available.
  ///   - suspension: how long the machine has been suspended so far; looked at once a second while
  ///     something is watched. nil: by the system's clocks where `clock` is the continuous one,
  ///     else not at all.
  public init(
    clock: C, policy: RetryPolicy = .standard, seed: UInt64? = nil,
    executor: (any TaskExecutor)? = nil, callbackExecutor: (any TaskExecutor)? = nil,
    queueCapacity: Int = RecoveryDefaults.queueCapacity,
    onOption: OptionHandler? = nil,
    suspension: (@Sendable () -> Duration)? = nil
  ) {
    self.clock = clock
    self.policy = policy
    self.executor = executor
    self.callbackExecutor = callbackExecutor
    self.onOption = onOption
    let isContinuous = clock is ContinuousClock
    self.suspension = suspension ?? (isContinuous ? SuspensionWatch.systemSuspension : nil)
    origin = clock.now
    epoch = (clock.now as? Moment) ?? ContinuousClock.now
    var seeds = SeededGenerator(seed: seed ?? SeededGenerator.anySeed())
    machine = SupervisorStateMachine(seed: seeds.next(), queueCapacity: queueCapacity)
    chance = SeededGenerator(seed: seeds.next())
  }

  deinit { feed.finish() }

  /// The error to show.
  public var shown: PresentedError? { machine.queue.shown }

  /// The errors behind the shown one, the next first.
  public var waiting: [PresentedError] { machine.queue.waiting }

  /// Errors dropped because too many were waiting.
  public var dropped: Int { machine.queue.dropped }

  /// Everything that happens from now on. Any number of readers, each with its own copy.
  public nonisolated func events() -> some AsyncSequence<RecoveryEvent, Never> & Sendable {
    feed.subscribe()
  }

  /// Where a connection stands; nil for one that is unknown or gone.
  public func state(of id: ConnectionID) -> RecoveryStateMachine.State? {
    machine.state(of: id)
  }

  // What happens, and when.

  nonisolated func now() -> Moment { epoch + origin.duration(to: clock.now) }

  /// The one way in: what happened, and what follows from it.
  func receive(_ input: SupervisorStateMachine.Input) {
    carryOut(machine.step(input, at: now()))
  }

  func carryOut(_ actions: [RecoveryAction]) {
    for action in actions { perform(action) }
    setAlarm()
  }

  func set(_ timer: Timer, at instant: Moment) {
    timers.set(timer, at: instant)
    isAlarmStale = true
  }

  func clear(_ timer: Timer) {
    timers.clear(timer)
    isAlarmStale = true
  }

  func clearTimers() {
    timers = DeadlineQueue()
    isAlarmStale = true
    setAlarm()
  }

  /// Keeps one task asleep until the next timer is due, and none while there is no timer.
  func setAlarm() {
    guard isAlarmStale else { return }
    isAlarmStale = false
    guard let next = timers.next else {
      alarm?.task.cancel()
      alarm = nil
      return
    }
    if let alarm, alarm.at <= next { return }
    alarm?.task.cancel()
    alarms += 1
    let number = alarms
    let instant = origin.advanced(by: next - epoch)
    let task = Task(executorPreference: executor) { [clock] in
      guard (try? await clock.sleep(until: instant, tolerance: nil)) != nil else { return }
      await self.ring(number)
    }
    alarm = (number, next, task)
  }

  private func ring(_ number: Int) {
    guard alarm?.number == number else { return }
    alarm = nil
    isAlarmStale = true
    noticeSuspension()
    while let timer = timers.popDue(at: now()) { fire(timer) }
    setAlarm()
  }

  private func fire(_ timer: Timer) {
    switch timer {
    case .recovery(let timer): receive(.timer(timer))
    case .liveness(let id): look(at: id)
    case .attempt(let id, let generation): attemptTookTooLong(id, generation)
    case .handOver(let id): startNextUse(of: id)
    case .pulse: pulse()
    }
  }

  /// A number that nobody else has.
  func ticket() -> Int {
    lastTicket += 1
    return lastTicket
  }
}
