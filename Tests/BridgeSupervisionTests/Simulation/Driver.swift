import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport

/// Breaks things at random, then stops and sees whether all is well again.
struct Driver: Sendable {
  let simulation: Simulation
  let supervisor: Supervisor<ManualClock>

  private var clock: ManualClock { simulation.clock }
  private var hosts: [ScriptedHost] { simulation.hosts }

  func drive() async {
    var generator = SeededGenerator(seed: simulation.seed ^ 0xFA07)
    var order = simulation.setting.children
    order.shuffle(using: &generator)
    for child in order {
      do throws(AppError) {
        try await supervisor.add(child)
      } catch {
        violate("\(child.id) was refused")
      }
      if Bool.random(using: &generator) { await pause(upTo: 100, &generator) }
    }
    for _ in 0..<simulation.setting.steps {
      await pause(
        upTo: [0, 20, 500, 4_000, 20_000].randomElement(using: &generator) ?? 0, &generator)
      await disturb(&generator)
      await check()
    }
    await mend()
    await converge()
    await supervisor.shutDown()
  }

  private func pause(upTo milliseconds: Int, _ generator: inout SeededGenerator) async {
    let wait = Duration.milliseconds(Int.random(in: 0...milliseconds, using: &generator))
    try? await clock.sleep(until: clock.now + wait)
  }

  private func violate(_ what: String) {
    simulation.violations.record("\(what), at \(clock.elapsed)")
  }

  private func disturb(_ generator: inout SeededGenerator) async {
    guard let host = hosts.randomElement(using: &generator),
      let id = simulation.setting.children.randomElement(using: &generator)?.id
    else { return }
    switch Int.random(in: 0..<23, using: &generator) {
    case 0, 1: host.answer = .accept
    case 2, 3: host.answer = ScriptedHost.Answer.allCases.randomElement(using: &generator) ?? .drop
    case 4, 5: await host.cut()
    case 6: await host.connections.randomElement(using: &generator)?.lose()
    case 7: await host.connections.randomElement(using: &generator)?.freeze()
    case 8: host.freeze()
    case 9: await host.thaw()
    case 10: await supervisor.networkChanged()
    case 11:
      if Bool.random(using: &generator) {
        await supervisor.reconnectNow(id)
      } else {
        await supervisor.reconnectNow()
      }
    case 12: await supervisor.report(Self.reports.randomElement(using: &generator) ?? .agentBusy)
    case 13: await supervisor.choose(Self.options.randomElement(using: &generator) ?? .dismiss)
    case 14: wait(for: id, atMost: .milliseconds(Int.random(in: 0...3_000, using: &generator)))
    case 15: operate(atMost: .milliseconds(Int.random(in: 0...9_000, using: &generator)))
    case 16: await host.connections.randomElement(using: &generator)?.stopReading()
    case 17: await host.connections.randomElement(using: &generator)?.resumeReading()
    case 18:
      let rate = Int.random(in: 0...50_000, using: &generator)
      await host.connections.randomElement(using: &generator)?.beginUpload(bytesPerSecond: rate)
    case 19: await host.connections.randomElement(using: &generator)?.endUpload()
    case 20: try? await supervisor.change(id, to: nil, nil, make: nil, reconnects: true)
    case 21:
      let wait = Int.random(in: 0...500, using: &generator)
      await supervisor.redial(id, after: .milliseconds(wait))
    default: host.latency = .milliseconds(Int.random(in: 1...800, using: &generator))
    }
  }

  private static let options: [ErrorRecoveryOption.Kind] = [.dismiss, .retry, .reconnect, .browse]
  private static let reports: [AppError] = [
    .agentBusy, .networkUnavailable, .internalError(detail: "d"), .invalidURL(string: "u"),
    .timeout(seconds: 1), .cancelled,
  ]

  /// A caller that waits for a connection and may cancel.
  private func wait(for id: ConnectionID, atMost limit: Duration) {
    let waiting = Task(executorPreference: simulation.executor) {
      _ = try? await supervisor.connection(id)
    }
    cancel(waiting, after: limit)
  }

  /// An operation that fails in passing and may be canceled anywhere.
  private func operate(atMost limit: Duration) {
    let running = Task(executorPreference: simulation.executor) {
      _ = try? await supervisor.run { throw AppError.networkUnavailable }
    }
    cancel(running, after: limit)
  }

  private func cancel(_ task: Task<Void, Never>, after limit: Duration) {
    Task(executorPreference: simulation.executor) {
      try? await clock.sleep(until: clock.now + limit)
      task.cancel()
    }
  }

  /// What must hold at any time.
  private func check() async {
    let queue = await supervisor.machine.queue
    let all = [queue.shown].compactMap(\.self) + queue.waiting
    if queue.count - queue.linkCount > queue.capacity { violate("the queue is over its bound") }
    await checkLinks(all)
    if queue.ranks != queue.ranks.sorted(by: >) { violate("the queue has no order") }
    if Set(all.map(\.id)).count != all.count { violate("an entry is queued twice") }
    for host in hosts {
      let site = host.endpoint.description
      let tokens = await supervisor.machine.budget(of: site, at: clock.now) ?? 0
      if !(0...RecoveryDefaults.budgetTokens).contains(tokens) { violate("\(tokens) tokens") }
      let dials = await supervisor.machine.unauthenticated(to: site)
      if dials > RecoveryDefaults.unauthenticatedDials { violate("\(dials) dials to \(site)") }
    }
  }

  /// A link that has given up has one entry, whatever a person did with it.
  private func checkLinks(_ all: [PresentedError]) async {
    for child in simulation.setting.children {
      let entries = all.filter { $0.link == child.id }
      if entries.count > 1 { violate("\(child.id) has \(entries.count) entries") }
      guard case .failed(let error)? = await supervisor.machine.state(of: child.id),
        error != .cancelled
      else { continue }
      if entries.first?.error != error { violate("\(child.id) gave up and is not listed") }
    }
  }

  /// The faults stop, and a person asks once for everything that has given up.
  private func mend() async {
    for host in hosts {
      host.answer = .accept
      host.latency = .milliseconds(5)
      await host.thaw()
      for connection in host.connections {
        await connection.endUpload()
        await connection.resumeReading()
      }
    }
    await supervisor.reconnectNow()
  }

  private func converge() async {
    let deadline = clock.now + Simulation.longestRecovery
    while clock.now < deadline {
      if await isWell() { return await checkWellness() }
      try? await clock.sleep(until: clock.now + .seconds(1))
    }
    for child in simulation.setting.children {
      violate("\(child.id) is \(await supervisor.state(of: child.id) as Any)")
    }
  }

  private func isWell() async -> Bool {
    for child in simulation.setting.children {
      guard case .up = await supervisor.state(of: child.id) else { return false }
    }
    return true
  }

  private func checkWellness() async {
    let sources = Set(simulation.setting.children.map(\.id.description))
    let queue = await supervisor.machine.queue
    let queued = [queue.shown].compactMap(\.self) + queue.waiting
    for entry in queued where entry.source.map(sources.contains) == true {
      violate("\(entry.error.caseName) of \(entry.source ?? "") is shown though all is well")
    }
  }
}
