import BridgeSessionProtocol
import BridgeWaiting
import FoundationEssentials

/// What the page shows now, and the events by which it became so. It never waits for a reader.
final class Board: Sendable {
  fileprivate struct State {
    var ring: EventHistory
    var host: ConsoleState.Host?
    /// Agents whose screen can be seen, as long as the host carries them.
    var screens: Set<String> = []
    var links: [String: ConsoleState.Link] = [:]
    var problems: [Int: [ConsoleState.Problem]] = [:]
    var hostKeys: [ConsoleState.HostKey] = []
    var approvals: [String: [ConsoleState.Approval]] = [:]
    var outages: [ConsoleState.Outage] = []
    var beats = 0
    var readers: [Reader: Int] = [:]
    var missed = 0
    var isOver = false
  }

  /// What holds a connection open.
  enum Reader: Hashable, Sendable {
    /// The events of the page.
    case stream
    /// The screen of an agent.
    case screen
  }

  /// Outages that are shown as a timeline.
  static let outages = 50
  /// How much of a stream is written at once.
  static let writeSize = 64 << 10

  /// What a stream writes next.
  enum Reading: Sendable {
    case events([ConsoleEvent])
    /// So many events are gone.
    case missed(Int)
    /// Nothing but that it is alive.
    case beat
    case nothing
    case end
  }

  /// Names this run.
  let epoch = String("\(Identifier.random())".prefix(12))
  /// Reasons to look at it again.
  let changes = Changes()
  private let limits: ConsoleLimits
  private let state: Mutex<State>

  init(_ limits: ConsoleLimits) {
    self.limits = limits
    let ring = EventHistory(limit: limits.events, byteLimit: limits.eventBytes)
    state = Mutex(State(ring: ring))
  }

  // MARK: Reading

  func snapshot(for visitor: Visitor, at now: Date) -> ConsoleState {
    state.withLock { state in
      ConsoleState(
        epoch: epoch, now: now.milliseconds, event: state.ring.last, access: visitor.access,
        reader: visitor.name.shown, host: state.host,
        links: state.links.values.sorted { $0.id < $1.id },
        problems: state.shownProblems, hostKeys: state.hostKeys, approvals: state.shownApprovals,
        outages: state.outages)
    }
  }

  /// What follows an event, for a stream that has written a sign of life at `beat`.
  func read(after number: UInt64, beat: Int) -> (Reading, beat: Int) {
    state.withLock { state in
      if state.isOver { return (.end, state.beats) }
      switch state.ring.read(after: number, size: Self.writeSize) {
      case .missed(let count):
        state.missed += count
        return (.missed(count), state.beats)
      case .events(let events) where !events.isEmpty: return (.events(events), state.beats)
      case .events: return (state.beats > beat ? .beat : .nothing, state.beats)
      }
    }
  }

  /// The number of the last event.
  var last: UInt64 { state.withLock { $0.ring.last } }

  /// How often a sign of life was due, and whether all streams are to end.
  var pulse: (beats: Int, isOver: Bool) { state.withLock { ($0.beats, $0.isOver) } }

  /// A place for a reader, until the value is let go; nil where all are taken.
  func place(for kind: Reader) -> ReaderPlace? {
    let limit = kind == .stream ? limits.streams : limits.screens
    let isFree = state.withLock { state in
      guard state.readers[kind, default: 0] < limit, !state.isOver else { return false }
      state.readers[kind, default: 0] += 1
      return true
    }
    return isFree ? ReaderPlace { [weak self] in self?.giveBack(kind) } : nil
  }

  private func giveBack(_ kind: Reader) {
    state.withLock { $0.readers[kind, default: 0] -= 1 }
  }

  func count(of kind: Reader) -> Int { state.withLock { $0.readers[kind, default: 0] } }
  /// Events that readers did not get.
  var missed: Int { state.withLock { $0.missed } }

  // MARK: Changes

  /// All streams write a sign of life.
  func beat() {
    state.withLock { $0.beats += 1 }
    changes.announce()
  }

  /// Ends all streams.
  func end() {
    state.withLock { $0.isOver = true }
    changes.announce()
  }

  func show(_ host: ConsoleState.Host) {
    update("host") { state -> ConsoleState.Host? in
      var host = host
      for index in host.agents.indices {
        host.agents[index].hasScreen = state.screens.contains(host.agents[index].name)
      }
      guard state.host != host else { return nil }
      let gone = Set(state.host?.agents.map(\.name) ?? []).subtracting(host.agents.map(\.name))
      state.screens.subtract(gone)
      state.host = host
      return host
    }
  }

  /// The screen of an agent can be seen.
  func show(screenOf agent: String) {
    update("host") { state -> ConsoleState.Host? in
      state.screens.insert(agent)
      guard let index = state.host?.agents.firstIndex(where: { $0.name == agent }),
        state.host?.agents[index].hasScreen == false
      else { return nil }
      state.host?.agents[index].hasScreen = true
      return state.host
    }
  }

  func show(_ link: ConsoleState.Link) {
    update("link") { state in
      state.links[link.id] = link
      return link
    }
  }

  func removeLink(_ id: String) {
    update("linkGone") { state in state.links.removeValue(forKey: id).map { ["id": $0.id] } }
  }

  /// Shows the problems of one supervisor; a countdown alone is no change.
  func show(_ problems: [ConsoleState.Problem], of supervisor: Int) {
    update("problems") { state -> [ConsoleState.Problem]? in
      guard state.problems[supervisor] ?? [] != problems else { return nil }
      state.problems[supervisor] = problems
      return state.shownProblems
    }
  }

  /// Shows the host keys that people decide about.
  func show(_ hostKeys: [ConsoleState.HostKey]) {
    update("hostKeys") { state -> [ConsoleState.HostKey]? in
      guard state.hostKeys != hostKeys else { return nil }
      state.hostKeys = hostKeys
      return hostKeys
    }
  }

  /// Shows the questions of an agent, in the place of those before; nil for none.
  func show(_ approvals: [ConsoleState.Approval]?, of agent: String) {
    update("approvals") { state -> ApprovalsChange? in
      guard state.approvals[agent] != approvals else { return nil }
      state.approvals[agent] = approvals
      return ApprovalsChange(agent: agent, approvals: approvals ?? [])
    }
  }

  /// Shows outages, each in the place of one with its id.
  func show(_ outages: [ConsoleState.Outage]) {
    for outage in outages {
      update("outage") { state in
        state.outages.removeAll { $0.id == outage.id }
        let place = state.outages.firstIndex { $0.start <= outage.start }
        state.outages.insert(outage, at: place ?? state.outages.endIndex)
        state.outages = Array(state.outages.prefix(Self.outages))
        return outage
      }
    }
  }

  private struct ApprovalsChange: Encodable {
    var agent: String
    var approvals: [ConsoleState.Approval]
  }

  /// Makes a change and its event, together; nil where nothing changes.
  private func update<Value: Encodable>(_ name: String, _ change: (inout State) -> Value?) {
    let isChanged = state.withLock { state in
      guard let value = change(&state) else { return false }
      state.ring.append(name, JSON.text(value))
      return true
    }
    if isChanged { changes.announce() }
  }
}

extension Board.State {
  fileprivate var shownProblems: [ConsoleState.Problem] {
    let ranks = ["critical": 0, "error": 1, "warning": 2, "info": 3]
    return problems.keys.sorted().flatMap { problems[$0] ?? [] }.enumerated()
      .sorted { left, right in
        let ranks = [left, right].map { ranks[$0.element.severity] ?? 4 }
        return (ranks[0], left.offset) < (ranks[1], right.offset)
      }.map(\.element)
  }

  fileprivate var shownApprovals: [ConsoleState.Approval] {
    approvals.values.flatMap { $0 }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
  }
}

/// The place of a reader. It is given back also where the answer to it is never written.
final class ReaderPlace: Sendable {
  private let giveBack: @Sendable () -> Void

  init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

  deinit { giveBack() }
}

/// JSON as this page writes it.
enum JSON {
  static func data(_ value: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only a number that is not finite has no JSON, and there is none.
    return (try? encoder.encode(value)) ?? Data("null".utf8)
  }

  static func text(_ value: some Encodable) -> String {
    String(decoding: data(value), as: UTF8.self)
  }
}
