import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSessionProtocol
import BridgeStore
import BridgeStorePostgres
import Foundation

/// A soak of agent hosts: real machines, a real database, a chat, agents and people.
struct AgentSoak: Sendable {
  let options: SoakOptions

  static let machines = 2
  /// How long agents may take to end when no fault comes any more.
  private static let endLimit = Duration.seconds(180)

  func report() async throws -> AgentReport {
    try await useEveryReactor()
    var report = AgentReport(seed: options.seed, agents: options.agents, hosts: options.hosts)
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "bridge-agents-\(UUID().uuidString.prefix(8))").path
    for path in [folder, "\(folder)/agents"] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }
    let start = Date()
    let result: Result<Void, any Error>
    do { result = .success(try await soak(folder, &report)) } catch { result = .failure(error) }
    report.seconds = Date().timeIntervalSince(start)
    report.evaluate(options.faults)
    if report.broken.isEmpty, case .success = result {
      try? FileManager.default.removeItem(atPath: folder)
    } else {
      say("its files are in \(folder)")
    }
    try result.get()
    return report
  }

  /// What is made on first use is no leak.
  private func useEveryReactor() async throws {
    let server = try await SSHServer()
    var proxies: [FaultProxy] = []
    for _ in 0..<(2 * ProcessInfo.processInfo.activeProcessorCount) {
      proxies.append(try await FaultProxy(to: server.port, seed: 1, logCapacity: 2))
    }
    for proxy in proxies { await proxy.stop() }
    await server.stop()
  }

  private func soak(_ folder: String, _ report: inout AgentReport) async throws {
    let world = try await AgentWorld(options, in: folder)
    let result: Result<Void, any Error>
    do { result = .success(try await soak(world, &report)) } catch { result = .failure(error) }
    await world.stop()
    try result.get()
  }

  private func soak(_ world: AgentWorld, _ report: inout AgentReport) async throws {
    let ledger = AgentLedger(isTelling: !options.isJSON)
    await ledger.tell(
      "soak, seed \(options.seed): \(options.faults) faults over \(options.agents) agents on "
        + "\(options.hosts) hosts")
    // The ports of the world stay reserved.
    report.before = Figures.now()
    try await run(world, ledger, &report)
    await world.chat.kill()
    await until { world.agentProcesses.isEmpty }
    report.processesLeft = world.agentProcesses
    let before = report.before.descriptors
    await until { Figures.now().descriptors == before }
    report.after = Figures.now()
    await fill(&report, from: ledger)
  }

  /// From the first agent to the last; nothing of it is kept behind.
  private func run(
    _ world: AgentWorld, _ ledger: AgentLedger, _ report: inout AgentReport
  ) async throws {
    let stores = [try await world.open(), try await world.open()]
    try await world.start()
    await withTaskGroup { group in
      group.addTask { await read(world, ledger) }
      group.addTask {
        await AgentPeople(ledger: ledger, stores: stores, seed: options.seed).run()
      }
      group.addTask { await measure(world, ledger) }
      await strike(world, ledger, stores[0])
      await finish(world, ledger, stores[0])
      group.cancelAll()
    }
    await ledger.verify(await facts(world, ledger, stores[0]))
    for host in world.hosts { report.descriptorsOfHosts.append(await host.descriptors) }
    for host in world.hosts {
      if await !host.stop() {
        await ledger.breaks("host \(host.number) did not shut down in order")
      }
      report.lives += await host.lives
      report.peakMebibytes = max(report.peakMebibytes, Double(await host.peak) / 1024)
    }
    for store in stores { await store.close() }
  }

  private func fill(_ report: inout AgentReport, from ledger: AgentLedger) async {
    let faults = await ledger.faults
    report.faults = faults.values.reduce(0, +)
    report.kinds = Dictionary(uniqueKeysWithValues: faults.map { ($0.key.rawValue, $0.value) })
    report.started = await ledger.plans.count
    (report.lines, report.duplicates) = await (ledger.verifier.lines, ledger.verifier.duplicates)
    let answers = await ledger.answers
    report.answers = answers.count
    report.questions = Set(answers.map { "\($0.agent) \($0.question)" }).count
    let takeovers = await ledger.takeovers
    report.alone = .init(takeovers.alone)
    report.amid = .init(takeovers.amid)
    report.late = takeovers.late
    report.frozenWithoutTakeover = takeovers.none
    report.broken = await ledger.broken
  }

  // MARK: While it goes on

  private func read(_ world: AgentWorld, _ ledger: AgentLedger) async {
    while !Task.isCancelled {
      await ledger.take(await world.chat.entries())
      await rest(.milliseconds(100))
    }
    await ledger.take(await world.chat.entries())
  }

  private func measure(_ world: AgentWorld, _ ledger: AgentLedger) async {
    while !Task.isCancelled {
      for host in world.hosts {
        await host.measure()
        if await host.hasEndedByItself {
          await ledger.breaks("host \(host.number) ended by itself")
        }
      }
      await rest(.seconds(1))
    }
  }

  /// Lets faults happen, with new agents in the place of those that end.
  private func strike(_ world: AgentWorld, _ ledger: AgentLedger, _ store: PostgresStore) async {
    await withTaskGroup { group in
      group.addTask { await supply(ledger, store) }
      // All agents run before the first fault.
      await until { await ledger.verifier.running.count >= options.agents }
      let striker = AgentStriker(
        world.machines, world.hosts, world.chat, world.database, ledger, seed: options.seed)
      await striker.run(
        AgentBlow.plan(options, machines: Self.machines),
        until: .now + .seconds(options.minutes * 60))
      await ledger.end()
    }
  }

  private func supply(_ ledger: AgentLedger, _ store: PostgresStore) async {
    var number = 0
    while await !ledger.isEnding {
      while await ledger.running < options.agents, await !ledger.isEnding {
        let plan = AgentPlan(number: number, options: options, machines: Self.machines)
        number += 1
        await ledger.add(plan)
        await add(plan, to: store, ledger)
      }
      await rest(.milliseconds(200))
    }
  }

  private func add(_ plan: AgentPlan, to store: PostgresStore, _ ledger: AgentLedger) async {
    while true {
      do throws(AppError) {
        return try await plan.add(to: store)
      } catch {
        // A store that is down for long may have it all the same: it is the same once more.
        guard case .storeUnusable = error else {
          return await ledger.breaks("\(plan.name) could not be added: \(error)")
        }
      }
    }
  }

  /// Lets all agents end where nothing is in their way.
  private func finish(_ world: AgentWorld, _ ledger: AgentLedger, _ store: PostgresStore) async {
    await world.machines.heal()
    _ = FileManager.default.createFile(atPath: "\(world.agentFolder)/stop", contents: nil)
    await ledger.tell("no more faults: \(await ledger.running) agents are to end")
    let limit = ContinuousClock.now + Self.endLimit
    while await ledger.running > 0, .now < limit { await rest(.milliseconds(100)) }
    for name in await ledger.unfinished.prefix(10) {
      let state = try? await store.state(of: name)
      let carrier = (try? await store.agents())?.first { $0.name == name }?.carrier
      await ledger.breaks(
        "\(name) has not ended: \(carrier?.lease.host ?? "no host"), "
          + "approvals \(state?.approvals.map(\.state) ?? [])")
    }
    // The end is stored once it has arrived.
    await until {
      let names = await ledger.plans.map(\.name)
      for name in names where await storedEnd(of: name, store) == nil { return false }
      return true
    }
  }

  private func storedEnd(of agent: String, _ store: PostgresStore) async -> String? {
    let value = (try? await store.state(of: agent))?.commits["session.end"]
    return (try? value?.decoded(as: ProgramEnd.self)).map { "\($0)" }
  }

  /// Waits for a condition, at most half a minute.
  private func until(_ isTrue: () async -> Bool) async {
    let limit = ContinuousClock.now + .seconds(30)
    while .now < limit {
      if await isTrue() { return }
      await rest(.milliseconds(100))
    }
  }

  // MARK: The end

  private func facts(
    _ world: AgentWorld, _ ledger: AgentLedger, _ store: PostgresStore
  ) async -> [AgentFacts] {
    var facts: [AgentFacts] = []
    for plan in await ledger.plans {
      func text(_ name: String) -> String {
        (try? String(
          contentsOfFile: "\(world.agentFolder)/\(plan.name).\(name)", encoding: .utf8)) ?? ""
      }
      let records = ((try? await store.state(of: plan.name))?.approvals ?? []).compactMap {
        try? $0.record.decoded(as: ApprovalRecord.self)
      }
      var delivered: [Int: String] = [:]
      for record in records {
        guard case .delivered(let decision) = record.state,
          let number = Int(record.request.wireID)
        else { continue }
        delivered[number] = decision.option
      }
      // Each line has its time before it.
      let input = text("input").split(separator: "\n").map {
        String($0.drop { $0 != "\t" }.dropFirst())
      }
      facts.append(
        AgentFacts(
          name: plan.name, printed: Int(text("end")), status: plan.status,
          starts: text("starts").split(separator: "\n").count, input: input,
          storedEnd: await storedEnd(of: plan.name, store), delivered: delivered))
    }
    return facts
  }
}
