import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import BridgeTransport

/// What may happen to a link.
enum Havoc: String, CaseIterable, Sendable {
  case reset
  case orderlyClose = "orderly close"
  case halfClose = "half-close to us"
  case farHalfClose = "half-close to them"
  case blackHole = "black hole"
  case oneWay = "black hole, one way"
  case unread = "peer does not read"
  case stall = "short stall"
  case cut = "cut in the stream"
  case cutHandshake = "cut in the handshake"
  case corrupt = "corrupted byte"
  case corruptHandshake = "corrupted handshake"
  case refuse = "refused for a while"
  case partition
  case latency
  case slice = "sliced handshake"
  case narrow = "narrow line"
  case silence = "accepted, then silence"
  case flap
  case hostRestart = "host restarts"
  case hostFreeze = "host freezes"
  case sessionsKilled = "sessions killed"
  case keyRefused = "key refused"
  /// What a link depends on failed.
  case parentDown = "parent goes down"
  /// A link that failed without a fault of ours.
  case unprovoked

  /// What meets one link only.
  static let ofLinks = allCases.filter {
    !$0.isOfHost && $0 != .parentDown && $0 != .unprovoked
  }

  /// It meets every link to the SSH server.
  var isOfHost: Bool {
    switch self {
    case .hostRestart, .hostFreeze, .sessionsKilled, .keyRefused: true
    case .reset, .orderlyClose, .halfClose, .farHalfClose, .blackHole, .oneWay, .unread, .stall,
      .cut,
      .cutHandshake, .corrupt, .corruptHandshake, .refuse, .partition, .latency, .slice, .narrow,
      .silence, .flap, .parentDown, .unprovoked:
      false
    }
  }

  /// No link can live through it unnoticed.
  var isLethal: Bool {
    switch self {
    case .reset, .orderlyClose, .halfClose, .blackHole, .oneWay, .cutHandshake, .corruptHandshake,
      .refuse, .partition, .slice, .narrow, .silence, .flap, .hostRestart, .sessionsKilled,
      .keyRefused:
      true
    case .farHalfClose, .unread, .stall, .cut, .corrupt, .latency, .hostFreeze, .parentDown,
      .unprovoked:
      false
    }
  }
}

/// One fault of the plan.
struct Blow: Sendable {
  /// Which link, from 0.
  var link: Int
  var havoc: Havoc
  /// When, counted from the first; later if its link is not well by then.
  var at: Duration
  /// What its own numbers are drawn from.
  var seed: UInt64

  /// Draws a plan: every link gets its share, spread evenly over `span`.
  ///
  /// - Parameter isSSH: whether a link leads to the SSH server, whose faults are rare and always
  ///   among them.
  static func plan(
    _ options: SoakOptions, over span: Duration, isSSH: (Int) -> Bool
  ) -> [Blow] {
    var generator = SplitMix64(seed: options.seed)
    var order: [Int] = []
    while order.count < options.faults {
      order += Array(0..<options.connections).shuffled(using: &generator)
    }
    let hostly = [Havoc.hostRestart, .keyRefused, .hostFreeze, .sessionsKilled]
    let share = span / Double(options.faults)
    var owed: [Havoc] = []
    return order.prefix(options.faults).enumerated().map { index, link in
      // One takes down half the links: more of them, and no link would ever be healthy between.
      if index % 50 == 25 { owed.append(hostly[(index / 50) % hostly.count]) }
      var havoc = Havoc.ofLinks.randomElement(using: &generator) ?? .reset
      if isSSH(link), let next = owed.popLast() { havoc = next }
      return Blow(
        link: link, havoc: havoc,
        at: share * (Double(index) + Double.random(in: 0..<1, using: &generator)),
        seed: generator.next())
    }
  }
}

/// Lets faults happen to one link.
struct Striker: Sendable {
  let fleet: SoakFleet
  let link: SoakLink
  let supervisor: Supervisor<ContinuousClock>

  /// Returns once the fault was begun, and for how long it goes on by itself.
  func strike(_ blow: Blow) async throws(FaultError) -> Duration {
    var generator = SplitMix64(seed: blow.seed)
    let spell = Duration.milliseconds(Int.random(in: 200...1_500, using: &generator))
    let proxy = link.proxy
    switch blow.havoc {
    case .reset: try await proxy.inject(.reset)
    case .orderlyClose: try await proxy.inject(.halfClose(.both))
    case .halfClose: try await proxy.inject(.halfClose([.toClient]))
    case .farHalfClose: try await proxy.inject(.halfClose([.toServer]))
    case .blackHole: try await proxy.inject(.freeze())
    case .oneWay: try await proxy.inject(.freeze([direction(&generator)]))
    case .unread:
      try await proxy.inject(.notReading(for: spell * 4))
      return spell * 4
    case .stall:
      try await proxy.inject(.freeze(for: spell / 2))
      return spell / 2
    case .cut:
      let count = Int.random(in: 0..<link.chatter, using: &generator)
      try await proxy.inject(.cut(after: count, by: ending(&generator)), on: .live)
    case .corrupt:
      let offset = Int.random(in: 0..<link.chatter, using: &generator)
      try await proxy.inject(.corrupt(at: offset), on: .live)
    case .cutHandshake:
      let count = Int.random(in: 0..<link.handshake, using: &generator)
      try await proxy.inject(.cut(after: count, direction(&generator), by: ending(&generator)))
      try await proxy.inject(.reset)
    case .corruptHandshake:
      let offset = Int.random(in: 0..<link.handshake, using: &generator)
      try await proxy.inject(.corrupt(at: offset, direction(&generator)))
      try await proxy.inject(.reset)
    case .refuse:
      try await proxy.inject(.refuse(for: spell))
      try await proxy.inject(.reset)
    case .partition: try await proxy.inject(.partition(for: spell))
    case .latency:
      try await proxy.inject(.latency(spell / 20, jitter: spell / 40))
      return spell
    case .slice:
      try await proxy.inject(.slice(Int.random(in: 1...4, using: &generator)))
      try await proxy.inject(.reset)
    case .narrow:
      try await proxy.inject(.bandwidth(Int.random(in: 20_000...60_000, using: &generator)))
      try await proxy.inject(.reset)
    case .silence:
      try await proxy.inject(.silence(for: spell))
      try await proxy.inject(.reset)
    case .flap:
      try await proxy.inject(.flap(times: 2, down: spell / 5, up: spell / 4))
      return spell
    case .hostRestart, .hostFreeze, .sessionsKilled, .keyRefused:
      try await strikeHost(blow.havoc, for: spell)
    case .parentDown, .unprovoked: break
    }
    return .zero
  }

  private func strikeHost(_ havoc: Havoc, for time: Duration) async throws(FaultError) {
    if havoc == .hostRestart {
      await fleet.server.kill()
      await rest(time)
      try await fleet.server.restart()
    } else if havoc == .hostFreeze {
      await fleet.server.freeze()
      await rest(time)
      await fleet.server.thaw()
    } else if havoc == .keyRefused {
      try await fleet.server.revokeIdentities()
      try await link.proxy.inject(.reset)
      await untilRefused()
      try await fleet.server.authorizeIdentity()
    } else {
      await fleet.server.killSessions()
    }
  }

  /// A link that was not healthy yet dials again only after a while.
  private func untilRefused() async {
    let limit = Moment.now + .seconds(30)
    while .now < limit {
      if await supervisor.state(of: link.id)?.isWithPerson == true { return }
      await rest(.milliseconds(20))
    }
  }

  private func direction(_ generator: inout SplitMix64) -> Direction {
    Bool.random(using: &generator) ? .toClient : .toServer
  }

  private func ending(_ generator: inout SplitMix64) -> Portion.Ending {
    Bool.random(using: &generator) ? .reset : .finish
  }
}

/// Waits; a soak is made of real time.
func rest(_ time: Duration) async {
  try? await ContinuousClock().sleep(for: time)
}
