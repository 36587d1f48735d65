import BridgeErrors
import BridgeMetrics
import BridgeRecovery
import BridgeSessionProtocol
import BridgeStore

/// Follows what is measured of recoveries, and says which outages there are. The first connection
/// of a link ends none.
struct OutageCourse: Sendable {
  /// Parts of an outage that are kept; behind them a part is added to the last one of its name.
  static let phaseLimit = 64

  private var course = RecoveryCourse()
  private var open: [String: StoredOutage] = [:]
  /// Up to when the time of an outage is in its parts: a standby dials beside the silence.
  private var covered: [String: Moment] = [:]
  /// Since when links with an outage have given up: a person ends it.
  private var givenUp: [String: Moment] = [:]

  /// Takes an event that happened then; returns the outages that are others now.
  mutating func see(_ event: RecoveryEvent, at now: Int64) -> [StoredOutage] {
    let link = event.source ?? ""
    var changed: Set<String> = []
    var ended: [StoredOutage] = []
    let facts = course.see(event)
    // What was up before the first event that was seen is lost as well as anything else.
    let isLoss = facts.contains { if case .lost = $0 { true } else { false } }
    for fact in facts {
      switch fact {
      case .missed:
        // How they go on is not known.
        (open, covered, givenUp) = ([:], [:], [:])
      case .outageBegan(let isFirst, let at):
        let start = now - Int64((event.at - at) / .milliseconds(1))
        if begin(link, isOutage: !isFirst || isLoss, at: at, start) { changed.insert(link) }
      case .stretch(let stretch, let from, let to): add(stretch.rawValue, from, to, of: link)
      case .phase(let phase, _, let from, let to): add(phase.rawValue, from, to, of: link)
      case .outageEnded(_, .failed, _, let at):
        if open[link] != nil { givenUp[link] = at }
      case .outageEnded:
        if let outage = end(link, at: now) { ended.append(outage) }
      case .dialBegan, .dialEnded, .lost, .notDialed, .retried, .lingered, .linksUp:
        break
      }
    }
    if case .closed = event.step, let outage = end(link, at: now) { ended.append(outage) }
    return changed.compactMap { open[$0] } + ended
  }

  private mutating func end(_ link: String, at now: Int64) -> StoredOutage? {
    (givenUp[link], covered[link]) = (nil, nil)
    guard var outage = open.removeValue(forKey: link) else { return nil }
    outage.end = now
    return outage
  }

  /// An outage begins, or one of a link that had given up goes on; true for a new one.
  private mutating func begin(
    _ link: String, isOutage: Bool, at moment: Moment, _ start: Int64
  ) -> Bool {
    guard open[link] == nil else {
      if let since = givenUp.removeValue(forKey: link) {
        add("wait", since, moment, of: link)
      }
      return false
    }
    guard isOutage else { return false }
    open[link] = StoredOutage(id: "\(Identifier.random())", link: link, start: start)
    return true
  }

  /// Adds a part, but for the time that earlier ones have.
  private mutating func add(
    _ name: String, _ from: Moment, _ to: Moment, of link: String
  ) {
    let from = max(from, covered[link] ?? from)
    let duration = to - from
    guard var outage = open[link], duration > .zero else { return }
    covered[link] = to
    let last = outage.phases.lastIndex { $0.name == name }
    if outage.phases.count >= Self.phaseLimit, let last {
      outage.phases[last].duration += duration
    } else if outage.phases.count < Self.phaseLimit {
      outage.phases.append(StoredOutage.Phase(name: name, duration: duration))
    }
    open[link] = outage
  }
}
