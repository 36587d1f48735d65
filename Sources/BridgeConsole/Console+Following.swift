import BridgeAgentHost
import BridgeErrors
import BridgeRecovery
import BridgeStore
import BridgeSupervision
import BridgeWaiting
import FoundationEssentials

// What is followed, and becomes what the board shows.
extension Console {
  /// How many questions of an agent are shown behind their end.
  private static let settled = 5
  /// How many outages wait at most for a store that takes none.
  private static let waitingOutages = 256
  /// How long outages are kept, in milliseconds.
  private static let kept: Int64 = 31 * 24 * 3600 * 1000

  /// Follows all that is shown, until it is canceled.
  func follow(_ clock: any Clock<Duration>) async {
    let outages = OutageQueue(limit: Self.waitingOutages)
    await withTaskGroup { group in
      group.addTask { await self.followHost() }
      group.addTask { await self.followApprovals() }
      group.addTask { await self.followHostKeys() }
      group.addTask { await self.keep(outages, clock) }
      for (number, supervised) in supervised.enumerated() {
        group.addTask { await self.followLinks(of: supervised, number, outages, clock) }
        group.addTask { await self.followProblems(of: supervised, number) }
      }
    }
  }

  private func followHost() async {
    for await snapshot in host.snapshots() { board.show(ConsoleState.Host(snapshot)) }
  }

  private func followHostKeys() async {
    guard let hostKeys else { return }
    for await pending in hostKeys.pending() {
      board.show(pending.map { ConsoleState.HostKey($0) })
    }
  }

  // MARK: Approvals

  private func followApprovals() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let version = arrivals.version
        while let (agent, questions) = nextToFollow() {
          group.addTask { await self.follow(questions, of: agent) }
        }
        try? await arrivals.wait(after: version)
      }
    }
  }

  /// Follows the questions of an agent until its approvals are gone.
  private func follow(_ questions: Questions, of agent: String) async {
    guard let events = await questions.approvals?.attach().events else { return }
    await showRecords(of: questions, agent)
    for await _ in events { await showRecords(of: questions, agent) }
    if forget(agent) { board.show(nil as [ConsoleState.Approval]?, of: agent) }
  }

  private func showRecords(of questions: Questions, _ agent: String) async {
    guard let approvals = questions.approvals, approvals === self.approvals(of: agent) else {
      return
    }
    let records = await approvals.records
    let pending = records.filter { $0.state == .pending }
    let settled = records.filter { $0.state != .pending }.suffix(Self.settled)
    board.show((settled + pending).map { ConsoleState.Approval($0) }, of: agent)
  }

  // MARK: Links

  private func followProblems(of supervised: Supervised, _ number: Int) async {
    for await errors in await supervised.presented() {
      board.show(errors.map { ConsoleState.Problem($0) }, of: number)
    }
  }

  private func followLinks(
    of supervised: Supervised, _ number: Int, _ queue: OutageQueue, _ clock: any Clock<Duration>
  ) async {
    let course = Mutex(LinkCourse(prefix: "\(number)."))
    let overview = await supervised.overview()
    show(course.withLock { ($0, $0.see(overview, at: now().milliseconds)).1 }, of: course)
    await withTaskGroup { group in
      group.addTask {
        while (try? await clock.sleep(for: .seconds(2))) != nil {
          let overview = await supervised.overview()
          self.show(course.withLock { $0.measure(overview) }, of: course)
        }
      }
      group.addTask { await self.followEvents(of: supervised, course, queue) }
      await group.next()
      group.cancelAll()
    }
  }

  private func followEvents(
    of supervised: Supervised, _ course: Mutex<LinkCourse>, _ queue: OutageQueue
  ) async {
    var outages = OutageCourse()
    for await event in supervised.events {
      // It is read a moment after it happened.
      let age = max(.zero, min(ContinuousClock.now - event.at, .seconds(60)))
      let instant = now().milliseconds - Int64(age / .milliseconds(1))
      if case .missed = event.step {
        let overview = await supervised.overview()
        show(course.withLock { $0.see(overview, at: instant) }, of: course)
      } else if let name = course.withLock({ $0.see(event, at: instant) }) {
        show([name], of: course)
      }
      let changed = outages.see(event, at: instant)
      guard !changed.isEmpty else { continue }
      board.show(changed.map { ConsoleState.Outage($0) })
      queue.append(changed)
    }
  }

  private func show(_ names: [String], of course: Mutex<LinkCourse>) {
    for name in names {
      let (link, prefix) = course.withLock { ($0.links[name], $0.prefix) }
      if let link { board.show(link) } else { board.removeLink(prefix + name.shown) }
    }
  }

  // MARK: Outages

  /// Shows the outages of before, and keeps those of now.
  private func keep(_ queue: OutageQueue, _ clock: any Clock<Duration>) async {
    var isRead = false
    while !Task.isCancelled {
      let version = queue.changes.version
      if !isRead { isRead = await readOutages() }
      let isKept = await keepAll(of: queue)
      // The store may be down for a while.
      let isWell = isRead && isKept
      await withTaskGroup { group in
        if isWell { group.addTask { try? await queue.changes.wait(after: version) } }
        group.addTask { try? await clock.sleep(for: isWell ? .seconds(3600) : .seconds(5)) }
        await group.next()
        group.cancelAll()
      }
    }
  }

  private func readOutages() async -> Bool {
    let now = now().milliseconds
    do throws(AppError) {
      try await store.removeOutages(before: now - Self.kept)
      let known = try await store.outages(since: now - Self.kept)
      board.show(known.suffix(Board.outages).map { ConsoleState.Outage($0) })
      return true
    } catch {
      return false
    }
  }

  /// Keeps what waits, the oldest first; false where the store takes none now.
  private func keepAll(of queue: OutageQueue) async -> Bool {
    while let outage = queue.first {
      do throws(AppError) {
        try await store.record(outage)
      } catch {
        return false
      }
      queue.remove(outage)
    }
    return true
  }
}

/// Outages that the store does not have yet: the oldest make way.
private final class OutageQueue: Sendable {
  let changes = Changes()
  private let limit: Int
  private let waiting = Mutex<[StoredOutage]>([])

  init(limit: Int) { self.limit = limit }

  var first: StoredOutage? { waiting.withLock { $0.first } }

  func append(_ outages: [StoredOutage]) {
    waiting.withLock { waiting in
      for outage in outages { waiting.removeAll { $0.id == outage.id } }
      waiting = Array((waiting + outages).suffix(limit))
    }
    changes.announce()
  }

  func remove(_ outage: StoredOutage) {
    waiting.withLock { waiting in waiting.removeAll { $0 == outage } }
  }
}
