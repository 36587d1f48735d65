import BridgeErrors
import BridgeRecovery
import BridgeSupervision

/// Follows the events of a supervisor, and says what the page shows of its links.
struct LinkCourse: Sendable {
  /// What distinguishes its links from those of other supervisors.
  let prefix: String
  private(set) var links: [String: ConsoleState.Link] = [:]
  /// The generation that is in use, by the shown name of a link.
  private var inUse: [String: Int] = [:]

  init(prefix: String) { self.prefix = prefix }

  /// Takes an event that happened then; returns the name of the link that is another one now.
  mutating func see(_ event: RecoveryEvent, at now: Int64) -> String? {
    guard let source = event.source, Self.isOfLink(event.step) else { return nil }
    let before = links[source]
    if case .closed = event.step {
      (links[source], inUse[source.shown]) = (nil, nil)
      return before == nil ? nil : source
    }
    // Operations have names as well; only a link has a generation, a plan or a state.
    guard before != nil || event.generation != nil else { return nil }
    var link = before ?? blank(source, since: now)
    step(event, &link, at: now)
    links[source] = link
    return link == before ? nil : source
  }

  /// Takes what the links are now, after events that were missed, or before any; returns the names
  /// of those that are others now.
  mutating func see(_ overview: [LinkOverview], at now: Int64) -> [String] {
    let before = links
    links = [:]
    for entry in overview {
      let name = entry.id.description
      var link = before[name] ?? blank(name, since: now)
      (link.nextAt, link.phase, link.silentSince) = (nil, nil, nil)
      switch entry.state {
      case .idle, .ready, .connecting, .closed: enter(.connecting, &link, at: now)
      case .suspended: enter(.suspended, &link, at: now)
      case .waiting(let until):
        enter(.waiting, &link, at: now)
        link.nextAt = now + Int64((until - ContinuousClock.now) / .milliseconds(1))
      case .up(let generation), .degraded(let generation):
        enter(.up, &link, at: now)
        inUse[link.name] = generation
      case .failed(let error):
        enter(.failed, &link, at: now)
        link.problem = ConsoleState.Trouble(error)
      }
      links[name] = link
    }
    let names = Set(links.values.map(\.name))
    inUse = inUse.filter { names.contains($0.key) }
    return Set(before.keys).union(links.keys).filter { before[$0] != links[$0] }.sorted()
  }

  /// Takes how long the peers took to answer; returns the names of the links where that is another
  /// time now, to a tenth of a millisecond.
  mutating func measure(_ overview: [LinkOverview]) -> [String] {
    overview.compactMap { entry in
      let name = entry.id.description
      let time = entry.roundTrip.map { ($0 / .milliseconds(1) * 10).rounded() / 10 }
      guard links[name] != nil, links[name]?.roundTrip != time else { return nil }
      links[name]?.roundTrip = time
      return name
    }
  }

  private func blank(_ name: String, since now: Int64) -> ConsoleState.Link {
    ConsoleState.Link(id: prefix + name.shown, name: name.shown, state: .connecting, since: now)
  }

  private static func isOfLink(_ step: RecoveryEvent.Step) -> Bool {
    switch step {
    case .surfaced, .withdrawn, .missed, .lingered, .classified, .becameHealthy: false
    default: true
    }
  }

  private mutating func step(
    _ event: RecoveryEvent, _ link: inout ConsoleState.Link, at now: Int64
  ) {
    switch event.step {
    case .attempted(let number, isStandby: false):
      enter(.connecting, &link, at: now)
      link.attempts = number
    case .entered(let phase):
      if link.state == .connecting { link.phase = phase.rawValue }
    case .recovered:
      enter(.up, &link, at: now)
      inUse[link.name] = event.generation
      (link.attempts, link.problem, link.silentSince) = (0, nil, nil)
    case .failed(let failure): fail(failure, event.generation, &link, at: now)
    case .waiting(let plan):
      enter(.waiting, &link, at: now)
      link.nextAt = plan.at.map { now + Int64($0 / .milliseconds(1)) }
    case .suspended(let parent):
      enter(.suspended, &link, at: now)
      link.waitsFor = parent.description.shown
    case .suspected(let silence):
      link.state = .silent
      link.silentSince = now - Int64(silence / .milliseconds(1))
    case .cleared:
      (link.state, link.silentSince) = (.up, nil)
    case .gaveUp(let failure, _):
      enter(.failed, &link, at: now)
      link.problem = ConsoleState.Trouble(failure)
    case .resumed, .switched, .changed: enter(.connecting, &link, at: now)
    case .attempted, .becameHealthy, .classified, .surfaced, .withdrawn, .lingered, .closed,
      .missed:
      break
    }
  }

  private mutating func fail(
    _ failure: ConnectionError, _ generation: Int?, _ link: inout ConsoleState.Link, at now: Int64
  ) {
    // A standby that failed is no loss.
    if link.isOfUse, let generation, generation != inUse[link.name] { return }
    link.problem = ConsoleState.Trouble(failure)
    enter(.waiting, &link, at: now)
  }

  /// Enters a state: how long a link has been of use, or not, goes on within one.
  private mutating func enter(
    _ state: ConsoleState.Link.State, _ link: inout ConsoleState.Link, at now: Int64
  ) {
    let wasOfUse = link.isOfUse
    link.state = state
    (link.nextAt, link.phase, link.waitsFor) = (nil, nil, nil)
    guard link.isOfUse != wasOfUse else { return }
    link.since = now
    (link.silentSince, link.roundTrip) = (nil, nil)
    if !link.isOfUse { inUse[link.name] = nil }
  }
}

extension ConsoleState.Link {
  var isOfUse: Bool { state == .up || state == .silent }
}
