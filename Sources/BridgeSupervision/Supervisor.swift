public import BridgeErrors
public import BridgeRecovery
import BridgeTransport
import BridgeWaiting

/// Keeps connections up, runs operations again that failed in passing, and shows the most severe
/// error with its options.
///
/// It decides nothing: `SupervisorStateMachine` returns actions for every input, and one switch
/// executes them. Its clock and its seed are parameters.
public actor Supervisor<C: Clock> where C.Duration == Duration {
  /// Executes an option that a person chose; it throws the error of a failure, or
  /// `OptionUnavailable` for an option that it does not execute.
  public typealias OptionHandler =
    @Sendable (ErrorRecoveryOption.Kind, PresentedError) async throws -> Void

  /// What a timer of this supervisor is for.
  enum Timer: Hashable {
    case recovery(RecoveryTimer)
    /// The next evaluation of the peer of a connection.
    case liveness(ConnectionID)
    /// The end of the time that the making of a connection may take.
    case making(ConnectionID)
    /// The end of the time that a dial may take.
    case attempt(ConnectionID, generation: Int)
    /// The end of the time that a handler waits for the one before it.
    case handOver(ConnectionID)
    /// The next check whether the machine was suspended.
    case pulse
    /// The next second of a countdown on the screen.
    case countdown
  }

  /// One generation of one connection.
  struct Generation {
    let connection: any Connection
    var connecting: Task<Void, Never>?
    var proving: Task<Void, Never>?
    var reading: Task<Void, Never>?
    var closing: Task<Void, Never>?
    var using: Task<Void, Never>?
    /// Requests how long it has waited for a person.
    var limiting: Task<Void, Never>?
    /// That time, as far as the limit of the attempt was put off by it.
    var timeAsked = Duration.zero
    /// Parts of the limit of the attempt that are still to be counted.
    var limitPartsLeft = RunningTime.parts - 1
    /// How far the dial has come.
    var phase = ConnectionPhase.resolve
    /// `open` has returned.
    var isOpen = false
    /// What ended it, as its events report it.
    var loss: Loss?

    /// Its dial has not reached the peer yet.
    var isUnanswered: Bool { phase == .resolve || phase == .dial }

    enum Loss {
      case failed(ConnectionError)
      /// The application closed it.
      case closedHere
    }
  }

  /// The connection of a next generation, from the call of `make` to the turn to dial.
  struct Preparation {
    let ticket: Int
    var making: Task<Void, Never>?
    /// nil until it is made.
    var connection: (any Connection)?
  }

  struct Watch {
    var generation: Int
    var liveness: Liveness
    /// How long the last answer to a probe took.
    var roundTrip: Duration?
    var probe: Task<Void, Never>?
    var check: Task<Void, Never>?
  }

  /// A call of `onConnected`.
  struct Use {
    var generation: Int
    var connection: any Connection
    var plan: LinkPlan
  }

  /// The calls of `onConnected` of one link: one at a time.
  struct HandOver {
    /// The ticket of the call that runs: generations of another link of this name have the same
    /// numbers.
    var running: Int?
    var waiting: [Use] = []
  }

  struct Waiter {
    var id: ConnectionID
    var caller: Promise<Result<any Connection, AppError>>
  }

  /// The wait of an operation before it is run again; `isAsked`: its server requires it.
  struct Pause {
    var sleep: Task<Void, any Error>
    var isAsked: Bool
  }

  nonisolated let clock: C
  nonisolated let policy: RetryPolicy
  nonisolated let executor: (any TaskExecutor)?
  nonisolated let callbackExecutor: (any TaskExecutor)?
  nonisolated let eventStream = EventStream()
  nonisolated let presentation = NewestValue<[PresentedError]>()
  let onOption: OptionHandler?
  let suspension: (@Sendable () -> Duration)?
  private nonisolated let origin: C.Instant
  nonisolated let epoch: Moment

  /// The decisions; a simulation looks into them.
  package var machine: SupervisorStateMachine
  var generator: SeededGenerator
  var plans: [ConnectionID: LinkPlan] = [:]
  var generations: [ConnectionID: [Int: Generation]] = [:]
  var preparations: [ConnectionID: Preparation] = [:]
  /// Callers that wait until a link is gone.
  var closers: [ConnectionID: [Promise<Void>]] = [:]
  /// The links that have several owners.
  var shares: [ConnectionID: Share] = [:]
  var watches: [ConnectionID: Watch] = [:]
  var waiters: [Int: Waiter] = [:]
  var pauses: [Int: Pause] = [:]
  var suspensionWatch: SuspensionWatch?
  var lastTicket = 0
  var isShutDown = false
  /// How many `onConnected` have not returned.
  var uses = 0
  var handOvers: [ConnectionID: HandOver] = [:]
  /// The changes of the queue that the readers of `presented` have.
  var presentedChanges: UInt64 = 0
  /// When the timer of the countdown fires; nil while it is not set.
  var countdown: Moment?
  private var timers = DeadlineQueue<Timer>()
  private var scheduled: (number: Int, at: Moment, task: Task<Void, Never>)?
  private var scheduledCount = 0
  /// The timers have changed since the wake-up was scheduled.
  private var isScheduleStale = false

  /// A supervisor without connections.
  ///
  /// - Parameters:
  ///   - clock: its only source of time.
  ///   - policy: for operations; connections bring their own.
  ///   - seed: the only source of randomness; nil for one that differs between processes.
  ///   - executor: where its tasks run; nil for a thread of its own that all supervisors share. Not
  ///     one that the application keeps busy: what is looked at late says little of a peer.
  ///   - callbackExecutor: where `onConnected` and chosen options run, which may block; nil for the
  ///     global pool.
  ///   - queueCapacity: errors shown and waiting at most.
  ///   - onOption: executes chosen options other than those that the supervisor executes
  ///     itself; without a handler those are not available.
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
    self.executor = executor ?? SupervisionThread.shared
    self.callbackExecutor = callbackExecutor
    self.onOption = onOption
    let isContinuous = clock is ContinuousClock
    self.suspension = suspension ?? (isContinuous ? SuspensionWatch.systemSuspension : nil)
    origin = clock.now
    epoch = (clock.now as? Moment) ?? ContinuousClock.now
    var seeds = SeededGenerator(seed: seed ?? SeededGenerator.anySeed())
    machine = SupervisorStateMachine(
      seed: seeds.next(), queueCapacity: queueCapacity, offersAllOptions: onOption != nil)
    generator = SeededGenerator(seed: seeds.next())
  }

  deinit {
    eventStream.finish()
    presentation.finish()
  }

  /// The error to show.
  public var shown: PresentedError? { machine.queue.shown }

  /// The errors behind the shown one, the next first.
  public var waiting: [PresentedError] { machine.queue.waiting }

  /// Errors dropped because too many were waiting.
  public var dropped: Int { machine.queue.dropped }

  /// Everything that happens from now on. Any number of readers, each with its own copy.
  public nonisolated func events() -> some AsyncSequence<RecoveryEvent, Never> & Sendable {
    eventStream.subscribe()
  }

  /// The state of a connection; nil for one that is unknown or closed.
  package func state(of id: ConnectionID) -> RecoveryStateMachine.State? {
    machine.state(of: id)
  }

  // Inputs and timers.

  nonisolated func now() -> Moment { epoch + origin.duration(to: clock.now) }

  /// Steps the machine with an input and executes its actions. Every input comes this way.
  func receive(_ input: SupervisorStateMachine.Input) {
    carryOut(machine.step(input, at: now()))
  }

  func carryOut(_ actions: [RecoveryAction]) {
    for action in actions { perform(action) }
    if machine.queue.changes != presentedChanges { present() }
    scheduleTimers()
  }

  func set(_ timer: Timer, at instant: Moment) {
    timers.set(timer, at: instant)
    isScheduleStale = true
  }

  func clear(_ timer: Timer) {
    timers.clear(timer)
    isScheduleStale = true
  }

  func clearTimers() {
    timers = DeadlineQueue()
    isScheduleStale = true
    scheduleTimers()
  }

  /// Keeps one task asleep until the next timer is due, and none while there is no timer.
  func scheduleTimers() {
    guard isScheduleStale else { return }
    isScheduleStale = false
    guard let next = timers.next else {
      scheduled?.task.cancel()
      scheduled = nil
      return
    }
    if let scheduled, scheduled.at <= next { return }
    scheduled?.task.cancel()
    scheduledCount += 1
    let number = scheduledCount
    let instant = origin.advanced(by: next - epoch)
    let task = Task(executorPreference: executor) { [clock] in
      guard (try? await clock.sleep(until: instant, tolerance: nil)) != nil else { return }
      await self.fireDueTimers(number)
    }
    scheduled = (number, next, task)
  }

  private func fireDueTimers(_ number: Int) {
    guard scheduled?.number == number else { return }
    scheduled = nil
    isScheduleStale = true
    noticeSuspension()
    while let timer = timers.popDue(at: now()) { fire(timer) }
    scheduleTimers()
  }

  private func fire(_ timer: Timer) {
    switch timer {
    case .recovery(let timer): receive(.timer(timer))
    case .liveness(let id): check(id)
    case .making(let id): makingTookTooLong(id)
    case .attempt(let id, let generation): attemptTookTooLong(id, generation)
    case .handOver(let id): startNextUse(of: id)
    case .pulse: pulse()
    case .countdown:
      countdown = nil
      present()
    }
  }

  /// A unique number.
  func ticket() -> Int {
    lastTicket += 1
    return lastTicket
  }
}
