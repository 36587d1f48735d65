import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport

/// One supervisor with a graph of connections to two hosts, through random faults and out of them,
/// with everything that must hold checked on the way. All of it follows from the seed.
final class Simulation: Sendable {
  /// What is decided before anything runs.
  struct Setting: Sendable {
    var children: [ScriptedLink] = []
    var queueCapacity: Int
    var steps: Int
    /// Some connections take longer to let go than they may; then the next one does not wait.
    var lingers = false
  }

  static let longestRecovery = Duration.seconds(240)

  let seed: UInt64
  let clock = ManualClock()
  let executor: SeededExecutor
  let hosts: [ScriptedHost]
  let setting: Setting
  let violations = EventRecorder<String>()
  let trace = EventRecorder<String>()
  let finished = EventRecorder<Bool>()

  init(seed: UInt64) {
    self.seed = seed
    executor = SeededExecutor(seed: seed)
    var generator = SeededGenerator(seed: seed ^ 0x5EED)
    let clock = clock
    hosts = ["a", "b"].map { name in
      ScriptedHost(
        Endpoint(host: name, port: 22), clock: clock,
        latency: .milliseconds(Int.random(in: 1...400, using: &generator)))
    }
    setting = Self.setting(hosts, &generator)
  }

  /// What went wrong; nothing if all is well.
  static func violations(seed: UInt64) -> [String] {
    let simulation = Simulation(seed: seed)
    simulation.run()
    return simulation.violations.events
  }

  /// Everything that happened, to compare two runs.
  static func trace(seed: UInt64) -> [String] {
    let simulation = Simulation(seed: seed)
    simulation.run()
    return simulation.trace.events + simulation.violations.events
  }

  private static func setting(
    _ hosts: [ScriptedHost], _ generator: inout SeededGenerator
  ) -> Setting {
    var setting = Setting(
      queueCapacity: Int.random(in: 2...8, using: &generator),
      steps: Int.random(in: 5...25, using: &generator))
    for number in 0..<Int.random(in: 1...6, using: &generator) {
      let id = ConnectionID("c\(number)")
      let host = hosts[Int.random(in: 0..<hosts.count, using: &generator)]
      let parents = (0..<number).filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
      let teardown = [0, 2, 50, 900, 1_500].randomElement(using: &generator) ?? 0
      setting.lingers = setting.lingers || teardown > 1_000
      setting.children.append(
        ScriptedLink(
          id: id, host: host,
          options: LinkOptions(
            parents: parents.map { ConnectionID("c\($0)") }, liveness: liveness(&generator),
            standby: LinkOptions.Standby.allCases.randomElement(using: &generator) ?? .always),
          teardown: .milliseconds(teardown)))
    }
    return setting
  }

  private static func liveness(_ generator: inout SeededGenerator) -> LivenessPolicy? {
    let keepalive = Duration.seconds(Int.random(in: 1...5, using: &generator))
    return switch Int.random(in: 0..<4, using: &generator) {
    case 0: nil
    case 1: LivenessPolicy(keepalive: keepalive, switching: .costly)
    default: LivenessPolicy(keepalive: keepalive, switching: .free)
    }
  }

  private func run() {
    weak var survivor: Supervisor<ManualClock>?
    do {
      let supervisor = Supervisor(
        clock: clock, seed: seed, executor: executor, callbackExecutor: executor,
        queueCapacity: setting.queueCapacity)
      survivor = supervisor
      let events = supervisor.events()
      Task(executorPreference: executor) {
        var checker = EventChecker()
        for await event in events {
          self.trace.record(self.line(event))
          for violation in checker.check(event) { self.violations.record(violation) }
        }
        self.finished.record(true)
      }
      Task(executorPreference: executor) {
        await Driver(simulation: self, supervisor: supervisor).drive()
        self.finished.record(true)
      }
    }
    let outcome = executor.run(moving: clock, atMost: 400_000) { finished.events.count == 2 }
    if outcome != .done { violations.record("the run is \(outcome)") }
    // Only the time limits of callers are left; after them no task may be.
    _ = executor.run(moving: clock, atMost: 1_000) { false }
    if survivor != nil { violations.record("the supervisor is still referenced") }
    if clock.sleeperCount > 0 { violations.record("\(clock.sleeperCount) still asleep") }
    for host in hosts { check(host) }
  }

  private func check(_ host: ScriptedHost) {
    let tally = host.tally
    if tally.open != 0 { violations.record("\(host.endpoint): \(tally.open) descriptors left") }
    if tally.unauthenticated != 0 { violations.record("\(host.endpoint): a dial was left") }
    if tally.doubleStarts != 0 { violations.record("\(host.endpoint): a double start") }
    for child in setting.children where !setting.lingers {
      let (most, limit) = (tally.mostOpen[child.id] ?? 0, child.options.liveness == nil ? 1 : 2)
      if most > limit { violations.record("\(child.id): \(most) generations at once") }
    }
    if tally.mostUnauthenticated > RecoveryDefaults.unauthenticatedDials {
      violations.record("\(host.endpoint): \(tally.mostUnauthenticated) dials at once")
    }
  }

  private func line(_ event: RecoveryEvent) -> String {
    let at = (event.at - clock.start).components
    let generation = event.generation.map { "#\($0)" } ?? ""
    return "\(at.seconds).\(at.attoseconds) \(event.source ?? "-")\(generation) \(event.name)"
  }
}

/// What must hold of every single event and its predecessors.
struct EventChecker {
  private var last: UInt64 = 0
  private var shown: PresentedError?
  private var attempted: [String: Int] = [:]
  private var closed: Set<String> = []

  mutating func check(_ event: RecoveryEvent) -> [String] {
    var violations: [String] = []
    if event.sequence != last + 1 { violations.append("event \(event.sequence) after \(last)") }
    last = event.sequence
    if let source = event.source, closed.contains(source), isActive(event.step) {
      violations.append("\(source) is closed, but: \(event.name)")
    }
    switch event.step {
    case .attempted:
      guard let source = event.source, let generation = event.generation else { break }
      if generation != attempted[source, default: 0] + 1 {
        violations.append("\(source): generation \(generation) out of order")
      }
      attempted[source] = generation
    case .surfaced(let presented):
      if let shown, shown.id == presented.id, shown.error == presented.error,
        shown.attempts == presented.attempts
      {
        violations.append("\(presented.error.caseName) was shown twice")
      }
      shown = presented
    case .withdrawn(let id):
      if shown?.id != id { violations.append("what was not shown is withdrawn") }
      shown = nil
    case .closed:
      if let source = event.source { closed.insert(source) }
    case .entered, .recovered, .becameHealthy, .failed, .classified, .waiting, .suspended,
      .resumed, .suspected, .cleared, .switched, .gaveUp, .lingered, .changed, .missed:
      break
    }
    return violations
  }

  private func isActive(_ step: RecoveryEvent.Step) -> Bool {
    switch step {
    case .attempted, .recovered, .waiting, .resumed, .switched, .suspected, .becameHealthy: true
    case .entered, .failed, .classified, .suspended, .cleared, .gaveUp, .surfaced, .withdrawn,
      .lingered, .changed, .closed, .missed:
      false
    }
  }
}
