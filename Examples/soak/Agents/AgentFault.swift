import BridgeFaults

/// What may happen to the parts of an agent host.
enum AgentHavoc: String, CaseIterable, Codable, Sendable {
  case linkReset = "link reset"
  case linkSilent = "link silent"
  case linkRefused = "link refused"
  case partition
  case attachmentKilled = "keeper left alone"
  case loginKilled = "login killed"
  case loginsKilled = "all logins killed"
  case machineFrozen = "machine frozen"
  case chatRestarted = "chat restarted"
  case databaseRestarted = "database restarted"
  case hostKilled = "host killed"
  case hostFrozen = "host frozen"

  /// Of a hundred faults.
  var share: Int {
    switch self {
    case .linkReset: 29
    case .linkSilent: 9
    case .linkRefused, .partition: 6
    case .attachmentKilled: 20
    case .loginKilled: 9
    case .loginsKilled, .machineFrozen: 3
    case .chatRestarted: 4
    case .databaseRestarted: 2
    case .hostKilled: 5
    case .hostFrozen: 4
    }
  }

  var isOfHost: Bool { self == .hostKilled || self == .hostFrozen }
}

/// One fault of the plan.
struct AgentBlow: Sendable, Hashable {
  var havoc: AgentHavoc
  var host: Int
  var machine: Int
  /// How long it goes on, in seconds; for what is killed until it is started again.
  var spell: Double
  /// Whether all else is well when it happens, and left so until its agents go on elsewhere.
  var isQuiet: Bool
  /// How long all else is left alone before it, in seconds.
  var calm = 0.0
  /// How long the plan waits after it, in seconds.
  var pause: Double

  /// How many faults of hosts alone follow each other, how long all else is left alone before the
  /// first of them, and before and after each, in seconds. A link that is up for ten seconds gives
  /// its host the right to new dials again, which a host that takes agents over may need.
  static let quietGroup = 3
  static let calmBeforeGroup = 12.0
  static let quietBefore = 1.5
  static let quietAfter = 4.0

  /// Draws a plan.
  static func plan(_ options: SoakOptions, machines: Int) -> [AgentBlow] {
    var generator = SplitMix64(seed: options.seed)
    let kinds = AgentHavoc.allCases.flatMap { Array(repeating: $0, count: $0.share) }
    var order: [AgentHavoc] = []
    // Also a short plan has each of them.
    while order.count < options.faults {
      order += order.isEmpty ? AgentHavoc.allCases.shuffled(using: &generator) : []
      order += kinds.shuffled(using: &generator)
    }
    var hostFaults = 0
    let blows = order.prefix(options.faults).map { havoc in
      hostFaults += havoc.isOfHost ? 1 : 0
      return AgentBlow(
        havoc: havoc, host: Int.random(in: 0..<options.hosts, using: &generator),
        machine: Int.random(in: 0..<machines, using: &generator),
        spell: spell(of: havoc, &generator),
        // Every other one of each: what comes on top of a fault is worse than what comes alone.
        isQuiet: havoc.isOfHost && hostFaults % 3 != 0,
        pause: Double.random(in: 0.1...0.8, using: &generator))
    }
    return grouped(blows)
  }

  /// Lets the faults that come alone follow each other, a few at a time.
  private static func grouped(_ blows: [AgentBlow]) -> [AgentBlow] {
    var (result, group): ([AgentBlow], [AgentBlow]) = ([], [])
    for blow in blows {
      guard blow.isQuiet else {
        result.append(blow)
        continue
      }
      group.append(blow)
      group[group.count - 1].calm = group.count == 1 ? calmBeforeGroup : quietBefore
      guard group.count == quietGroup else { continue }
      result += group
      group = []
    }
    return result + group
  }

  private static func spell(of havoc: AgentHavoc, _ generator: inout SplitMix64) -> Double {
    switch havoc {
    case .hostFrozen: Double.random(in: 0.5...6, using: &generator)
    case .hostKilled: Double.random(in: 0.3...4, using: &generator)
    case .linkSilent: Double.random(in: 0.3...6, using: &generator)
    case .chatRestarted: Double.random(in: 0.1...2, using: &generator)
    case .machineFrozen, .partition, .linkRefused: Double.random(in: 0.3...3, using: &generator)
    case .linkReset, .attachmentKilled, .loginKilled, .loginsKilled, .databaseRestarted: 0
    }
  }

  var text: String {
    let place =
      switch havoc {
      case .chatRestarted, .databaseRestarted: ""
      case .hostKilled, .hostFrozen: " \(host)"
      case .attachmentKilled, .loginKilled, .loginsKilled, .machineFrozen: " of machine \(machine)"
      case .linkReset, .linkSilent, .linkRefused, .partition:
        " of host \(host) and machine \(machine)"
      }
    let time = spell > 0 ? ", \((spell * 10).rounded() / 10) s" : ""
    return "\(havoc.rawValue)\(place)\(time)\(isQuiet ? ", alone" : "")"
  }
}
