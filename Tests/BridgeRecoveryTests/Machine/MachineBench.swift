import BridgeErrors
import BridgeRecovery
import Testing

/// Many connections to one site, every dial answered by hand.
struct MachineBench {
  static let site = "h:22"
  let start = Moment.now
  var now: Moment
  var machine = SupervisorStateMachine(seed: 1)
  var actions: [RecoveryAction] = []
  /// Links whose connections are never made.
  var unmade: Set<String> = []

  init() {
    now = start
  }

  mutating func add(
    _ name: String, parents: [String] = [], site: String = MachineBench.site,
    retriesFirstDial: Bool = true, limitsUnauthenticated: Bool = true
  ) throws {
    actions = try machine.add(
      .init(
        id: ConnectionID(name), site: site, parents: parents.map { ConnectionID($0) },
        retriesFirstDial: retriesFirstDial, limitsUnauthenticated: limitsUnauthenticated),
      at: now)
    remember(actions)
    makeAll()
  }

  mutating func step(_ input: SupervisorStateMachine.Input) {
    actions = machine.step(input, at: now)
    remember(actions)
    makeAll()
  }

  /// Makes the connections that are asked for, at once.
  private mutating func makeAll() {
    var index = 0
    while index < actions.count {
      if case .prepare(let id) = actions[index], !unmade.contains("\(id)") {
        let more = machine.step(.prepared(id), at: now)
        remember(more)
        actions += more
      }
      index += 1
    }
  }

  private var deadlines: [RecoveryTimer: Moment] = [:]

  private mutating func remember(_ actions: [RecoveryAction]) {
    for action in actions {
      switch action {
      case .setTimer(let timer, let at): deadlines[timer] = at
      case .clearTimer(let timer): deadlines[timer] = nil
      case .prepare, .discard, .dial, .close, .promote, .disturb, .giveUp, .retire, .publish:
        break
      }
    }
  }

  var dials: [String] {
    actions.compactMap {
      if case .dial(let id, let generation) = $0 { "\(id)#\(generation)" } else { nil }
    }
  }

  /// Authenticated, and heard from since.
  mutating func connect(_ name: String, _ generation: Int = 1) {
    step(.connected(ConnectionID(name), generation: generation))
    let later = actions
    step(.proved(ConnectionID(name), generation: generation))
    actions = later + actions
  }

  mutating func fail(
    _ name: String, _ generation: Int, _ kind: FailureKind,
    _ error: AppError = .sshConnectionFailed(host: "h", reason: "r")
  ) {
    let context = FailureContext(kind: kind, phase: .dial, host: "h", port: 22)
    step(
      .failed(
        ConnectionID(name), generation: generation, ConnectionError(error, context: context)))
    let later = actions
    step(.tornDown(ConnectionID(name), generation: generation))
    actions = later + actions
  }

  func state(_ name: String) -> RecoveryStateMachine.State? {
    machine.state(of: ConnectionID(name))
  }

  /// The names of the events of the last step.
  var names: [String] {
    actions.compactMap { if case .publish(let event) = $0 { event.name } else { nil } }
  }

  /// Who was answered by the last step that nothing will come.
  var answered: [String: AppError] {
    actions.reduce(into: [:]) { answers, action in
      if case .giveUp(let id, let error) = action { answers["\(id)"] = error }
    }
  }

  /// Lets time pass, each timer firing when it is due, until one of `names` is dialed or `limit`
  /// is over; the generations that were begun by then, also by the last step before.
  mutating func pump(_ names: [String], for limit: Duration) -> [Int] {
    let end = now + limit
    while dials(of: names).isEmpty {
      let due = deadlines.filter { $0.value <= end }.min { $0.value < $1.value }
      guard let due else { break }
      now = max(now, due.value)
      deadlines[due.key] = nil
      step(.timer(due.key))
    }
    if dials(of: names).isEmpty { now = end }
    return dials(of: names)
  }

  private func dials(of names: [String]) -> [Int] {
    actions.compactMap {
      guard case .dial(let id, let generation) = $0, names.contains("\(id)") else { return nil }
      return generation
    }
  }

  /// Loses `name` as soon as it is up until nothing is dialed but a probe; the generation of that
  /// probe, which is up.
  mutating func tripBreaker(with name: String) throws -> Int {
    guard case .up(var generation) = state(name) else { throw TripError() }
    for _ in 0..<50 {
      fail(name, generation, .linkLost)
      let since = now
      generation = try #require(pump([name], for: .seconds(120)).last)
      connect(name, generation)
      if now - since >= RecoveryDefaults.probeInterval - .seconds(5) { return generation }
    }
    throw TripError()
  }

  private struct TripError: Error {}

  /// Every generation that was closed is gone.
  mutating func tearDownAll(_ name: String) {
    for case .close(let id, let generation) in actions where "\(id)" == name {
      step(.tornDown(id, generation: generation))
    }
  }
}
