public import BridgeErrors

/// All supervised connections as a graph of dependencies, and the errors that a person sees.
///
/// When one goes down, everything that depends on it is suspended in the same step: not dialed, at
/// no cost, not reported. When it is back they restart, parents before children. Dials to one host
/// go through one gate.
public struct SupervisorStateMachine: Sendable {
  /// One connection to supervise.
  public struct Child: Sendable {
    /// Its name.
    public var id: ConnectionID
    /// Where it leads, `host:port`, or another name; connections of one site share a budget.
    public var site: String
    /// What must be up before it is tried. A name may be declared before it exists.
    public var parents: [ConnectionID]
    /// How often and how soon it is tried again.
    public var policy: RetryPolicy
    /// Whether a first connection is tried again like a later one.
    public var retriesFirstDial: Bool
    /// Whether its host limits connections that are not authenticated yet, as sshd does.
    public var limitsUnauthenticated: Bool

    /// A connection to supervise.
    public init(
      id: ConnectionID, site: String, parents: [ConnectionID] = [],
      policy: RetryPolicy = .persistent, retriesFirstDial: Bool = false,
      limitsUnauthenticated: Bool = true
    ) {
      self.id = id
      self.site = site
      self.parents = parents
      self.policy = policy
      self.retriesFirstDial = retriesFirstDial
      self.limitsUnauthenticated = limitsUnauthenticated
    }
  }

  /// An input of the machine.
  public enum Input: Sendable {
    /// The connection of a next generation is made, not opened.
    case prepared(ConnectionID)
    /// It could not be made.
    case unprepared(ConnectionID, ConnectionError)
    /// A generation connected.
    case connected(ConnectionID, generation: Int)
    /// A generation failed.
    case failed(ConnectionID, generation: Int, ConnectionError)
    /// A generation has released descriptor and session.
    case tornDown(ConnectionID, generation: Int)
    /// A generation entered a phase of its dial.
    case entered(ConnectionID, generation: Int, ConnectionPhase)
    /// The peer answered on this generation.
    case proved(ConnectionID, generation: Int)
    /// Bytes of the peer came on this generation, the last at that instant.
    case heard(ConnectionID, generation: Int, at: Moment)
    /// This side gives a generation up; `isAsked`: the application requests another one.
    case restart(ConnectionID, generation: Int, ConnectionError, isAsked: Bool)
    /// The peer of a generation does not answer; `wantsStandby`: a second one is to be made ready.
    case suspected(
      ConnectionID, generation: Int, silentFor: Duration, wantsStandby: Bool = true)
    /// The suspected peer answered.
    case cleared(ConnectionID, generation: Int)
    /// A timer fired.
    case timer(RecoveryTimer)
    /// A person requests an attempt of this one now, also when it has given up; nil means all.
    case reconnectNow(ConnectionID?)
    /// What this one was used for came further over the connection that was lost: it is dialed
    /// after this long.
    case redial(ConnectionID, after: Duration)
    /// A path came up or changed, or the machine woke: what waits is tried now, what is up is
    /// probed, and the dials of `restarting` begin anew.
    case pathChanged(restarting: [ConnectionID] = [])
    /// A connection is closed for good.
    case close(ConnectionID)
    /// An operation or an application reports an error.
    case report(SeverityQueue.Report)
    /// A person dismisses this entry.
    case dismiss(PresentedError.ID)
    /// This source works again.
    case resolve(source: String)
    /// A chosen option of this entry failed; `unknown` stands for the entry's own error as long as
    /// it is there.
    case optionFailed(PresentedError, AppError)
    /// A step of an operation, for the readers only.
    case emit(RecoveryEvent.Step, String?)
  }

  struct Node: Sendable {
    var child: Child
    var machine: RecoveryStateMachine
    var children: [ConnectionID] = []
    var lastChildFailure: (child: ConnectionID, at: Moment)?
    var preparation: Preparation?
  }

  /// The connection of a next generation, which is made before it has its turn to dial: what makes
  /// it may take long, and is no dial.
  enum Preparation: Sendable {
    /// Is being made. Can become made.
    case making(HostGate.Request)
    /// Waits for its turn.
    case made(HostGate.Request)

    var request: HostGate.Request {
      switch self {
      case .making(let request), .made(let request): request
      }
    }
  }

  var nodes: [ConnectionID: Node] = [:]
  /// In the order in which they were added: what is decided for all is decided in this order.
  var order: [ConnectionID] = []
  var gates: [String: HostGate] = [:]
  /// Whether options are executed that it does not execute itself.
  let offersAllOptions: Bool
  var generator: SeededGenerator
  var actions: [RecoveryAction] = []
  /// What is shown and what waits.
  public internal(set) var queue: SeverityQueue
  private var sequence: UInt64 = 0
  private var lastShown: PresentedError?
  private var queueDeadline: Moment?
  private var seenChanges: UInt64 = 0

  /// Creates a machine without connections.
  ///
  /// - Parameters:
  ///   - seed: the only source of randomness.
  ///   - queueCapacity: errors shown and waiting at most.
  ///   - offersAllOptions: whether an application executes the options of errors; else only those
  ///     are offered that a supervisor executes itself.
  public init(
    seed: UInt64, queueCapacity: Int = RecoveryDefaults.queueCapacity,
    offersAllOptions: Bool = true
  ) {
    self.offersAllOptions = offersAllOptions
    generator = SeededGenerator(seed: seed)
    queue = SeverityQueue(capacity: queueCapacity, seed: generator.next())
  }

  /// The state of a connection; nil for one that is unknown or gone.
  public func state(of id: ConnectionID) -> RecoveryStateMachine.State? {
    nodes[id]?.machine.state
  }

  /// Whether the generation in use is trusted: a round trip and the time that health takes are
  /// behind it.
  public func isTrusted(_ id: ConnectionID) -> Bool { nodes[id]?.machine.use?.isHealthy == true }

  /// The number of its next generation.
  public func nextGeneration(of id: ConnectionID) -> Int {
    (nodes[id]?.machine.generation ?? 0) + 1
  }

  /// Sites that are remembered, with and without links.
  package var siteCount: Int { gates.count }

  /// The generation in use; nil while there is none.
  public func liveGeneration(of id: ConnectionID) -> Int? { nodes[id]?.machine.live }

  /// The connections, in the order in which they were added.
  public var children: [ConnectionID] { order }

  /// Tokens left for a site at `now`.
  public func budget(of site: String, at now: Moment) -> Int? {
    gates[site]?.budget.tokens(at: now)
  }

  /// Dials to a site that have not been settled.
  public func dialsInFlight(to site: String) -> Int { gates[site]?.dialsInFlight ?? 0 }

  /// What a site may count as unauthenticated: those dials, and what it may not have noticed yet.
  public func unauthenticated(to site: String) -> Int { gates[site]?.unauthenticated ?? 0 }

  /// Adds a connection and starts it when what it depends on is up.
  ///
  /// - Throws: `internalError` when the name is in use, or when it would depend on itself.
  public mutating func add(_ child: Child, at now: Moment) throws(AppError) -> [RecoveryAction] {
    guard nodes[child.id] == nil else {
      throw .internalError(detail: "\(child.id) is supervised already")
    }
    guard !reaches(child.id, from: child.parents) else {
      throw .internalError(detail: "\(child.id) would depend on itself")
    }
    let machine = RecoveryStateMachine(
      id: child.id, policy: child.policy, retriesFirstDial: child.retriesFirstDial)
    var node = Node(child: child, machine: machine)
    node.children = order.filter { nodes[$0]?.child.parents.contains(child.id) == true }
    nodes[child.id] = node
    order.append(child.id)
    for parent in child.parents { nodes[parent]?.children.append(child.id) }
    if gates[child.site] == nil { gates[child.site] = HostGate(at: now) }
    startIfPossible(child.id, at: now)
    return finish(at: now)
  }

  /// Takes an input at `now` and returns the actions, in order.
  public mutating func step(_ input: Input, at now: Moment) -> [RecoveryAction] {
    switch input {
    case .prepared(let id): prepared(id, at: now)
    case .unprepared(let id, let failure): unprepared(id, failure, at: now)
    case .connected(let id, let generation):
      advance(id, .connected(generation: generation), at: now)
    case .failed(let id, let generation, let failure):
      recordFailure(of: id, at: now)
      advance(id, .failed(generation: generation, failure), at: now)
    case .tornDown(let id, let generation):
      advance(id, .tornDown(generation: generation), at: now)
    case .entered(let id, let generation, let phase):
      if nodes[id] != nil { publish(.entered(phase), id.description, generation, at: now) }
    case .proved(let id, let generation): prove(id, generation, at: now)
    case .heard(let id, let generation, let instant):
      advance(id, .heard(generation: generation, at: instant), at: now)
    case .restart(let id, let generation, let failure, let isAsked):
      advance(id, .restart(generation: generation, failure, isAsked: isAsked), at: now)
    case .suspected(let id, let generation, let silent, let wantsStandby):
      let suspected = RecoveryStateMachine.Input.suspected(
        generation: generation, silentFor: silent, wantsStandby: wantsStandby)
      advance(id, suspected, at: now)
    case .cleared(let id, let generation):
      advance(id, .cleared(generation: generation), at: now)
    case .timer(let timer): fire(timer, at: now)
    case .reconnectNow(let id): retryNow(id.map { [$0] } ?? order, rearms: true, at: now)
    case .redial(let id, let delay): redial(id, after: delay, at: now)
    case .pathChanged(let restarting):
      retryNow(order, rearms: false, restarting: restarting, at: now)
    case .close(let id): close(id, at: now)
    case .report(let report): queue.push(offered(report), at: now)
    case .dismiss(let id): queue.dismiss(id)
    case .resolve(let source): queue.resolve(source: source)
    case .optionFailed(let entry, let error): optionFailed(entry, error, at: now)
    case .emit(let step, let source): publish(step, source, nil, at: now)
    }
    return finish(at: now)
  }

  /// The report with those options alone that are executed.
  func offered(_ report: SeverityQueue.Report) -> SeverityQueue.Report {
    guard !offersAllOptions else { return report }
    var report = report
    let own: Set<ErrorRecoveryOption.Kind> =
      report.link == nil ? [.dismiss, .cancel] : [.reconnect, .retry, .dismiss, .cancel]
    var plan = report.plan ?? RecoveryPlan(next: .askPerson)
    let options = plan.options.isEmpty ? report.error.recoveryOptions.map(\.kind) : plan.options
    plan.options = options.filter(own.contains)
    if plan.options.isEmpty { plan.options = [report.link == nil ? .dismiss : .reconnect] }
    report.plan = plan
    return report
  }

  /// What the option was for may be over meanwhile; that it failed is news even so.
  private mutating func optionFailed(
    _ entry: PresentedError, _ error: AppError, at now: Moment
  ) {
    guard queue.entry(entry.id) != nil else {
      return queue.push(SeverityQueue.Report(error: error), at: now)
    }
    if case .unknown = error {
      queue.recoveryFailed(entry.id, with: nil, at: now)
    } else {
      queue.recoveryFailed(entry.id, with: error, at: now)
    }
  }

  mutating func finish(at now: Moment) -> [RecoveryAction] {
    if queue.changes != seenChanges { showChanges(at: now) }
    defer { actions = [] }
    return actions
  }

  private mutating func showChanges(at now: Moment) {
    seenChanges = queue.changes
    let shown = queue.shown
    if let last = lastShown, last.id != shown?.id {
      publish(.withdrawn(last.id), last.source, nil, at: now)
    }
    if let shown, isNews(shown) { publish(.surfaced(shown), shown.source, nil, at: now) }
    lastShown = shown
    let deadline = queue.deadline
    guard deadline != queueDeadline else { return }
    queueDeadline = deadline
    actions.append(
      queueDeadline.map { .setTimer(.queue, at: $0) } ?? .clearTimer(.queue))
  }

  private func isNews(_ shown: PresentedError) -> Bool {
    shown.id != lastShown?.id || shown.error != lastShown?.error
      || shown.attempts != lastShown?.attempts
  }

  mutating func publish(
    _ step: RecoveryEvent.Step, _ source: String?, _ generation: Int?, at now: Moment
  ) {
    sequence += 1
    actions.append(
      .publish(
        RecoveryEvent(
          sequence: sequence, at: now, source: source, generation: generation, step: step)))
  }
}
