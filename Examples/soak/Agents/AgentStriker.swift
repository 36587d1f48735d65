import BridgeFaults
import Foundation

/// Lets faults happen to the parts of a soak, several at a time.
actor AgentStriker {
  private let machines: SoakMachines
  private let hosts: [SoakHost]
  private let chat: SoakChat
  private let database: SoakDatabase
  private let ledger: AgentLedger
  private var generator: SplitMix64
  /// What a fault is under way of.
  private var busy: Set<String> = []

  init(
    _ machines: SoakMachines, _ hosts: [SoakHost], _ chat: SoakChat, _ database: SoakDatabase,
    _ ledger: AgentLedger, seed: UInt64
  ) {
    (self.machines, self.hosts, self.chat) = (machines, hosts, chat)
    (self.database, self.ledger) = (database, ledger)
    generator = SplitMix64(seed: seed)
  }

  /// Lets the faults of a plan happen, until `deadline`; returns when the last is over.
  func run(_ plan: [AgentBlow], until deadline: ContinuousClock.Instant) async {
    await withTaskGroup { group in
      for var blow in plan where ContinuousClock.now < deadline {
        if blow.isQuiet { blow.isQuiet = await isQuiet(for: blow.calm) }
        while !isFree(blow) { await rest(.milliseconds(50)) }
        busy.insert(part(of: blow))
        await ledger.strike(blow)
        group.addTask { [blow] in
          await self.strike(blow)
          await self.free(blow)
        }
        await rest(.seconds(blow.isQuiet ? AgentBlow.quietAfter : blow.pause))
      }
    }
  }

  private func free(_ blow: AgentBlow) { busy.remove(part(of: blow)) }

  /// Waits until no fault is under way, for so long, and for the lines of all agents; false where
  /// these do not come.
  private func isQuiet(for calm: Double) async -> Bool {
    while !busy.isEmpty { await rest(.milliseconds(50)) }
    await rest(.seconds(calm))
    let limit = ContinuousClock.now + Self.flowLimit
    while .now < limit {
      if await ledger.areLinesFlowing { return true }
      await rest(.milliseconds(100))
    }
    return false
  }

  /// A link without a right to dial is given one after half a minute.
  private static let flowLimit = Duration.seconds(35)

  /// What it is a fault of: one at a time.
  private func part(of blow: AgentBlow) -> String {
    switch blow.havoc {
    case .chatRestarted: "chat"
    case .databaseRestarted: "database"
    case .hostKilled, .hostFrozen: "host \(blow.host)"
    case .attachmentKilled, .loginKilled, .loginsKilled, .machineFrozen: "machine \(blow.machine)"
    case .linkReset, .linkSilent, .linkRefused, .partition: "link \(blow.host) \(blow.machine)"
    }
  }

  /// One host stays at least.
  private func isFree(_ blow: AgentBlow) -> Bool {
    guard !busy.contains(part(of: blow)) else { return false }
    let down = busy.count { $0.hasPrefix("host ") }
    return !blow.havoc.isOfHost || down + 1 < hosts.count
  }

  private func strike(_ blow: AgentBlow) async {
    do {
      switch blow.havoc {
      case .chatRestarted:
        await chat.kill()
        await rest(.seconds(blow.spell))
        try await chat.start()
      case .databaseRestarted: try await database.control("restart")
      case .hostKilled, .hostFrozen: try await strikeHost(blow)
      case .attachmentKilled, .loginKilled, .loginsKilled, .machineFrozen:
        await strikeMachine(blow)
      case .linkReset, .linkSilent, .linkRefused, .partition: try await strikeLink(blow)
      }
    } catch {
      await ledger.breaks("the fault \(blow.text) could not be made: \(error)")
    }
  }

  private func strikeHost(_ blow: AgentBlow) async throws {
    let host = hosts[blow.host]
    if let mark = await host.mark { await ledger.strike(host: mark, isQuiet: blow.isQuiet) }
    if blow.havoc == .hostKilled {
      await host.kill()
      await rest(.seconds(blow.spell))
      try await host.start()
    } else {
      await host.freeze()
      await rest(.seconds(blow.spell))
      await host.thaw()
    }
  }

  private func strikeMachine(_ blow: AgentBlow) async {
    let sessions = machines.sessions(of: blow.machine)
    let server = machines.servers[blow.machine]
    switch blow.havoc {
    case .attachmentKilled:
      if let process = sessions.attachments.randomElement(using: &generator) {
        _ = kill(process, SIGKILL)
      }
    case .loginKilled:
      if let process = sessions.logins.randomElement(using: &generator) {
        _ = kill(process, SIGKILL)
      }
    case .loginsKilled: await server.killSessions()
    default:
      await server.freeze()
      await rest(.seconds(blow.spell))
      await server.thaw()
    }
  }

  private func strikeLink(_ blow: AgentBlow) async throws(FaultError) {
    let proxy = machines.proxies[blow.host][blow.machine]
    let spell = Duration.seconds(blow.spell)
    switch blow.havoc {
    case .linkSilent: try await proxy.inject(.freeze(for: spell))
    case .partition: try await proxy.inject(.partition(for: spell))
    case .linkRefused:
      try await proxy.inject(.refuse(for: spell))
      try await proxy.inject(.reset)
    default: try await proxy.inject(.reset)
    }
    await rest(spell)
  }
}
