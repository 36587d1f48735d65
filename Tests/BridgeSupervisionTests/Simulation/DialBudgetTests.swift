import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

/// Links that are never left alone long enough to be healthy: lost, frozen, suspected and cleared,
/// handed over, turned away, with a network path that changes all the time.
private struct RestlessScene {
  static let span = Duration.seconds(2 * 3_600)
  /// What a full budget and one that refills for an hour pay: 100 tokens and 1,200, ten a dial.
  static let tokensAnHour =
    RecoveryDefaults.budgetTokens + Int(.seconds(3_600) / RecoveryDefaults.tokenInterval)

  let clock = ManualClock()
  let executor: SeededExecutor
  let hosts: [ScriptedHost]
  let supervisor: Supervisor<ManualClock>
  let events = EventRecorder<RecoveryEvent>()
  let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    executor = SeededExecutor(seed: seed)
    let clock = clock
    hosts = ["a", "b"].map { ScriptedHost(Endpoint(host: $0, port: 22), clock: clock) }
    supervisor = Supervisor(
      clock: clock, seed: seed, executor: executor, callbackExecutor: executor)
  }

  func run() -> SeededExecutor.Outcome {
    let stream = supervisor.events()
    Task(executorPreference: executor) { [events] in
      for await event in stream { events.record(event) }
    }
    let finished = EventRecorder<Bool>()
    Task(executorPreference: executor) {
      await drive()
      finished.record(true)
    }
    return executor.run(moving: clock, atMost: 4_000_000) { !finished.events.isEmpty }
  }

  private func drive() async {
    var generator = SeededGenerator(seed: seed ^ 0xD1A1)
    for (name, host, parents) in [("a", 0, []), ("b", 1, ["a"]), ("c", 1, [])] {
      _ = try? await supervisor.add(link(name, hosts[host], parents, &generator))
    }
    while clock.elapsed < Self.span {
      let wait = Duration.milliseconds(Int.random(in: 50...1_000, using: &generator))
      try? await clock.sleep(until: clock.now + wait)
      await disturb(&generator)
      for host in hosts { await endWhatIsNearlyHealthy(host, &generator) }
    }
    await supervisor.shutDown()
  }

  private func link(
    _ name: String, _ host: ScriptedHost, _ parents: [String], _ generator: inout SeededGenerator
  ) -> ScriptedLink {
    let keepalive = Duration.milliseconds(Int.random(in: 500...2_000, using: &generator))
    return ScriptedLink(
      id: ConnectionID(name), host: host,
      options: LinkOptions(
        parents: parents.map { ConnectionID($0) },
        liveness: LivenessPolicy(keepalive: keepalive, switching: .free)))
  }

  private func disturb(_ generator: inout SeededGenerator) async {
    guard let host = hosts.randomElement(using: &generator) else { return }
    switch Int.random(in: 0..<60, using: &generator) {
    case 0, 1: await host.connections.randomElement(using: &generator)?.freeze()
    case 2: await host.connections.randomElement(using: &generator)?.lose()
    case 3...30: await supervisor.networkChanged()
    case 31: host.answerNext(.throttle)
    case 32: host.answerNext(.drop)
    case 33, 34: host.freeze()
    default: host.latency = .milliseconds(Int.random(in: 1...400, using: &generator))
    }
    if Int.random(in: 0..<3, using: &generator) == 0 {
      for host in hosts { await host.thaw() }
    }
  }

  /// Nothing is well for ten seconds: what is older than three is frozen, or lost.
  private func endWhatIsNearlyHealthy(
    _ host: ScriptedHost, _ generator: inout SeededGenerator
  ) async {
    for connection in host.connections {
      guard let age = await connection.age, age > .seconds(3) else { continue }
      let isLost = Int.random(in: 0..<8, using: &generator) == 0
      if isLost { await connection.lose() } else { await connection.freeze() }
    }
  }

  /// What the dials of `source` cost that began within an hour of each other, at most.
  func mostTokensAnHour(of source: String) -> Int {
    var dials: [(at: Moment, generation: Int, cost: Int)] = []
    for event in events.events where event.source == source {
      guard let generation = event.generation else { continue }
      if case .attempted = event.step {
        dials.append((event.at, generation, RecoveryDefaults.dialCost))
      }
      if case .failed(let failure) = event.step, failure.kind == .throttled,
        let index = dials.lastIndex(where: { $0.generation == generation })
      {
        dials[index].cost = RecoveryDefaults.throttledDialCost
      }
    }
    var (most, sum, first) = (0, 0, 0)
    for dial in dials {
      sum += dial.cost
      while dial.at - dials[first].at > .seconds(3_600) {
        sum -= dials[first].cost
        first += 1
      }
      most = max(most, sum)
    }
    return most
  }

  func count(_ name: String) -> Int { events.events.count { $0.name == name } }
}

/// Which seeds: a hundred and twentieth of those of the other simulations, for each takes seconds.
private let parts: [Range<UInt64>] = stride(from: 0, to: SimulatedSeeds.parts.count, by: 4).map {
  let part = SimulatedSeeds.parts[$0]
  return part.lowerBound..<part.lowerBound + max(1, UInt64(part.count) / 30)
}

@Suite struct DialBudgetTests {
  @Test(arguments: parts)
  func whateverHappensNoLinkDialsMoreThanTheRetryBudgetPays(seeds: Range<UInt64>) {
    for seed in seeds {
      let scene = RestlessScene(seed: seed)
      #expect(scene.run() == .done, "seed \(seed)")
      #expect(scene.count("healthy") == 0, "seed \(seed): not what is to be tested")
      #expect(scene.count("switched") > 0 && scene.count("suspected") > 10, "seed \(seed)")
      for source in ["a", "b", "c"] {
        let tokens = scene.mostTokensAnHour(of: source)
        #expect(
          tokens <= RestlessScene.tokensAnHour,
          "seed \(seed), \(SimulatedSeeds.configuration): \(source) spent \(tokens) in an hour")
      }
    }
  }
}
