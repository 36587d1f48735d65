import Foundation

/// How long an agent had no host that passed its lines on.
struct Takeovers: Codable, Sendable {
  private struct Watch: Codable, Sendable {
    var host: String
    var begun: Double
    var isQuiet: Bool
  }

  /// Of hosts that were struck alone, and of those that were while other faults were under way; in
  /// seconds, from the fault to the first line that another host passed on.
  private(set) var alone: [Double] = []
  private(set) var amid: [Double] = []
  /// The longest of the former, in words; bounded.
  private(set) var late: [String] = []
  /// Hosts that were frozen and went on before another took the agent.
  private(set) var none = 0
  private var watches: [String: Watch] = [:]

  /// What a host had sent before it was struck comes within this time.
  private static let inFlight = 0.3

  /// A host is struck that carries these agents.
  mutating func begin(_ agents: [String], of host: String, at time: Double, isQuiet: Bool) {
    for agent in agents where watches[agent] == nil {
      watches[agent] = Watch(host: host, begun: time, isQuiet: isQuiet)
    }
  }

  /// Takes the next message of the chat's record.
  mutating func take(_ entry: ChatEntry) {
    guard let watch = watches[entry.agent], entry.time > watch.begun else { return }
    if entry.content.hasPrefix("end ") {
      watches[entry.agent] = nil
    } else if entry.host != watch.host {
      watches[entry.agent] = nil
      if watch.isQuiet {
        alone.append(entry.time - watch.begun)
        if entry.time - watch.begun > AgentReport.longestTakeover, late.count < 20 {
          late.append(
            "\(entry.agent): \(entry.time - watch.begun) s from \(watch.host) to \(entry.host)")
        }
      } else {
        amid.append(entry.time - watch.begun)
      }
    } else if entry.time > watch.begun + Self.inFlight {
      watches[entry.agent] = nil
      none += 1
    }
  }

  static func median(_ times: [Double]) -> Double {
    times.isEmpty ? 0 : times.sorted()[times.count / 2]
  }
}

/// What a soak of agent hosts learns while it goes on.
actor AgentLedger {
  private(set) var verifier = AgentVerifier()
  private(set) var takeovers = Takeovers()
  private(set) var plans: [AgentPlan] = []
  private(set) var answers: [PersonAnswer] = []
  private(set) var faults: [AgentHavoc: Int] = [:]
  private(set) var broken: [String] = []
  /// Whether no new agents are started.
  private(set) var isEnding = false
  private let isTelling: Bool
  private let start = Date()

  init(isTelling: Bool) { self.isTelling = isTelling }

  func take(_ entries: [ChatEntry]) {
    for entry in entries {
      verifier.take(entry)
      takeovers.take(entry)
    }
  }

  func end() { isEnding = true }

  func add(_ plan: AgentPlan) { plans.append(plan) }

  func add(_ answer: PersonAnswer) { answers.append(answer) }

  /// How many agents are on their way.
  var running: Int { plans.count - verifier.ended.count }

  /// The agents that have not ended.
  var unfinished: [String] {
    let ended = verifier.ended
    return plans.map(\.name).filter { !ended.contains($0) }
  }

  /// Counts a fault that is about to happen, and says so.
  func strike(_ blow: AgentBlow) {
    faults[blow.havoc, default: 0] += 1
    let count = faults.values.reduce(0, +)
    tell("fault \(count): \(blow.text)")
  }

  /// Whether the last line of each agent came just now; those that wait for their last answer, or
  /// begin, are few and do not count.
  var areLinesFlowing: Bool {
    let running = verifier.running
    let now = Date().timeIntervalSince1970
    let late = running.count { $0.time < now - Self.lineLimit }
    return late <= max(1, running.count / 10)
  }

  /// Five lines a second are printed, and read ten times a second.
  private static let lineLimit = 1.0

  /// A host is about to be struck: the agents whose last line it passed on are waited for.
  func strike(host: String, isQuiet: Bool) {
    let now = Date().timeIntervalSince1970
    let carried = verifier.running.filter { $0.host == host && $0.time > now - 1 }
    takeovers.begin(carried.map(\.agent), of: host, at: now, isQuiet: isQuiet)
  }

  func breaks(_ words: String) {
    broken.append(words)
    tell("BROKEN: \(words)")
  }

  func tell(_ words: String) {
    guard isTelling else { return }
    let seconds = (Date().timeIntervalSince(start) * 10).rounded() / 10
    say("\(seconds) s  \(words)")
  }

  /// Compares all of it at the end.
  func verify(_ facts: [AgentFacts]) {
    verifier.verify(facts, answers: answers)
    broken += verifier.broken
  }
}
