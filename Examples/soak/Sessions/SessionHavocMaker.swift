import BridgeFaults
import Foundation

/// Lets faults happen to one session, over all lives of its client.
struct SessionHavocMaker: Sendable {
  let plan: SessionPlan
  let place: SessionPlace
  let proxy: FaultProxy
  let ledger: SessionLedger
  private(set) var hasKilledKeeper = false
  private var strikes = 0
  private var generator: SplitMix64

  init(plan: SessionPlan, place: SessionPlace, proxy: FaultProxy, ledger: SessionLedger) {
    (self.plan, self.place, self.proxy, self.ledger) = (plan, place, proxy, ledger)
    generator = SplitMix64(seed: plan.inputSeed)
  }

  /// What a login takes, and what an attachment brings beyond it.
  private static let login = 3_000
  private static let attachment = 20_000

  /// Strikes until the life is over or it killed it.
  mutating func strike(_ life: SessionClient) async {
    while !Task.isCancelled {
      // Often in the middle of what the last one began.
      await rest(.milliseconds(Int.random(in: 0...250, using: &generator)))
      while await proxy.connections.isEmpty, !Task.isCancelled, await ledger.goesOn {
        await rest(.milliseconds(10))
      }
      if Task.isCancelled { return }
      do throws(FaultError) {
        if Int.random(in: 0..<6, using: &generator) == 0 { try await proxy.heal() }
        let havoc = next()
        guard await ledger.strike(havoc) else { return try await proxy.heal() }
        strikes += 1
        try await strike(havoc)
        switch havoc {
        case .clientKilled, .clientKilledSilently: return await life.die()
        case .reset, .orderlyClose, .halfClose, .farHalfClose, .stall, .blackHole, .oneWay,
          .unread, .cut, .cutNext, .corrupt, .refuse, .partition, .silence, .flap, .keeperKilled:
          break
        }
      } catch {
        return await ledger.breaks("\(plan.name): the proxy: \(error)")
      }
    }
  }

  private mutating func next() -> SessionHavoc {
    if let death = plan.keeperDeath, strikes >= death, !hasKilledKeeper,
      !place.keepers(of: plan.id).isEmpty
    {
      return .keeperKilled
    }
    return SessionHavoc.usual.randomElement(using: &generator) ?? .reset
  }

  private mutating func strike(_ havoc: SessionHavoc) async throws(FaultError) {
    let spell = Duration.milliseconds(Int.random(in: 50...600, using: &generator))
    switch havoc {
    case .reset, .clientKilled: try await proxy.inject(.reset)
    case .orderlyClose: try await proxy.inject(.halfClose(.both))
    case .halfClose: try await proxy.inject(.halfClose([.toClient]))
    case .farHalfClose: try await proxy.inject(.halfClose([.toServer]))
    case .stall: try await proxy.inject(.freeze(for: spell))
    case .blackHole, .clientKilledSilently: try await proxy.inject(.freeze())
    case .oneWay: try await proxy.inject(.freeze([direction()]))
    case .unread: try await proxy.inject(.notReading(for: spell))
    case .cut: try await proxy.inject(.cut(after: size(), direction(), by: ending()), on: .live)
    case .cutNext:
      let isUp = Int.random(in: 0..<3, using: &generator) == 0
      try await proxy.inject(
        .cut(
          after: isUp ? size() : Self.login / 2 + size(), isUp ? .toServer : .toClient,
          by: ending()))
      try await proxy.inject(.reset)
    case .corrupt: try await proxy.inject(.corrupt(at: size(), direction()), on: .live)
    case .refuse:
      try await proxy.inject(.refuse(for: spell))
      try await proxy.inject(.reset)
    case .partition: try await proxy.inject(.partition(for: spell))
    case .silence:
      try await proxy.inject(.silence(for: spell))
      try await proxy.inject(.reset)
    case .flap: try await proxy.inject(.flap(times: 2, down: spell / 5, up: spell / 4))
    case .keeperKilled:
      for process in place.keepers(of: plan.id) { _ = kill(process, SIGKILL) }
      hasKilledKeeper = true
    }
  }

  private mutating func size() -> Int { Int.random(in: 0..<Self.attachment, using: &generator) }

  private mutating func direction() -> Direction {
    Bool.random(using: &generator) ? .toClient : .toServer
  }

  private mutating func ending() -> Portion.Ending {
    Bool.random(using: &generator) ? .reset : .finish
  }
}
