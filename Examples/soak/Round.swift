import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import BridgeTransport
import BridgeWaiting
import Foundation

/// All links under one supervisor, from the first dial to the last descriptor.
final class Round: Sendable {
  private let options: SoakOptions
  private let fleet: SoakFleet
  private let recorder = Recorder()
  private let ending = Mutex(Ending())

  /// How far apart the faults of one link are planned, where there is time for it.
  private static let pace = Duration.seconds(6)

  private struct Ending {
    weak var supervisor: Supervisor<ContinuousClock>?
  }

  init(_ options: SoakOptions, _ fleet: SoakFleet) {
    self.options = options
    self.fleet = fleet
  }

  /// Brings all links up, lets `body` happen, shuts down, and waits until nothing is left.
  func run(_ body: (Supervisor<ContinuousClock>) async -> Void) async throws {
    let reading = try await supervised(body)
    await until(.seconds(60)) { await self.recorder.hasEnded }
    await until(.seconds(60)) {
      await self.fleet.openConnections == 0 && self.fleet.census.living == 0
        && self.isSupervisorGone
    }
    reading.cancel()
  }

  private func supervised(
    _ body: (Supervisor<ContinuousClock>) async -> Void
  ) async throws -> Task<Void, Never> {
    let supervisor = Supervisor(
      clock: ContinuousClock(), seed: options.seed,
      onOption: { [self] _, entry in
        // The settings are in order by now; what is left is to say so.
        guard let source = entry.source else { return }
        let supervisor = ending.withLock { $0.supervisor }
        await supervisor?.reconnectNow(ConnectionID(source))
      })
    ending.withLock { $0.supervisor = supervisor }
    let events = supervisor.events()
    let reading = Task { await recorder.read(events) }
    try await fleet.supervise(by: supervisor, recorder)
    let isUp = await until(.seconds(120)) { await self.count(supervisor, \.isUp) == self.links }
    if !isUp { await recorder.breaks("not all links came up before the first fault") }
    await body(supervisor)
    await supervisor.shutDown()
    return reading
  }

  /// Lets every fault happen.
  func strike(_ supervisor: Supervisor<ContinuousClock>, _ progress: Progress) async {
    let length = Duration.seconds(options.minutes * 60)
    let span = min(length * 0.8, Self.pace * options.faults / links)
    let gap = min(.milliseconds(500), span / Double(options.faults) * Double(links) / 4)
    let plan = Blow.plan(options, over: span, isSSH: SoakFleet.isSSH)
    let (start, turnstile) = (Moment.now, Turnstile())
    let operations = Operations(fleet: fleet, recorder: recorder, supervisor: supervisor)
    let running = Task { await operations.run() }
    await withTaskGroup(of: Void.self) { group in
      for (number, link) in fleet.links.enumerated() {
        let driver = Driver(
          fleet: fleet, link: link, recorder: recorder, supervisor: supervisor,
          turnstile: turnstile, progress: progress)
        let blows = plan.filter { $0.link == number }
        group.addTask {
          await driver.drive(blows, from: start, until: start + length, gap: gap)
        }
      }
    }
    running.cancel()
    await running.value
  }

  /// After the last fault: every link up or with a person within a minute.
  func calmDown(_ supervisor: Supervisor<ContinuousClock>, _ report: inout Report) async {
    let start = Moment.now
    do { try await fleet.heal() } catch {
      await recorder.breaks("the proxies could not be healed: \(error)")
    }
    await until(.seconds(60)) {
      await self.count(supervisor) { $0.isUp || $0.isWithPerson } == self.links
    }
    report.ledger.secondsToCalm = start.duration(to: .now) / .seconds(1)
    report.ledger.linksUp = await count(supervisor, \.isUp)
    report.ledger.linksWithPerson = await count(supervisor, \.isWithPerson)
    // What ends before may still hold its descriptor for a moment.
    await until(.seconds(60)) {
      Figures.now().openDescriptors <= report.ledger.up.openDescriptors
    }
  }

  /// What the kernel says once the descriptors are back, or after a minute.
  func figures(like before: Figures) async -> Figures {
    await until(.seconds(60)) { Figures.now().descriptors == before.descriptors }
    return Figures.now()
  }

  /// Copies what was seen into the report.
  func close(_ report: inout Report) async {
    report.ledger.sessionsLeft = fleet.census.living
    report.ledger.peersLeft = await fleet.openConnections
    report.ledger.supervisorEnded = await recorder.hasEnded
    report.ledger.supervisorGone = isSupervisorGone
    report.ledger.lingeredGenerations = await recorder.lingered
    report.ledger.missedEvents = await recorder.missed
    report.ledger.slowReads = await recorder.slowReads
    report.ledger.operations = await recorder.operations
    report.ledger.choices = await recorder.choices
    let refused = RefusedKeys(log: await fleet.server.log)
    report.ledger.refusedCredentials = refused.count
    report.ledger.unauthenticated = refused.unauthenticated
    report.ledger.refusalsTold = await recorder.refusals
    report.ledger.refusedTwice = refused.repeated
    report.errors = await recorder.errors
    report.broken += await recorder.broken
    let outcomes = await recorder.outcomes
    report.recovery = Havoc.allCases.compactMap { havoc in
      outcomes[havoc].map { Report.Row(havoc.rawValue, $0) }
    }
  }

  private var links: Int { fleet.links.count }

  private var isSupervisorGone: Bool { ending.withLock { $0.supervisor == nil } }

  private func count(
    _ supervisor: Supervisor<ContinuousClock>, _ matches: (RecoveryStateMachine.State) -> Bool
  ) async -> Int {
    var count = 0
    for link in fleet.links {
      guard var state = await supervisor.state(of: link.id) else { continue }
      // What is suspended waits for whatever its parent waits for.
      if state == .suspended, let parent = link.parent {
        state = await supervisor.state(of: parent) ?? state
        if state.isUp { continue }
      }
      if matches(state) { count += 1 }
    }
    return count
  }

  /// Looks again and again; false when the time is over.
  @discardableResult
  private func until(_ limit: Duration, _ condition: () async -> Bool) async -> Bool {
    let deadline = Moment.now + limit
    while .now < deadline {
      if await condition() { return true }
      await rest(.milliseconds(50))
    }
    return await condition()
  }
}

/// The refused keys in sshd's log: "Failed publickey for USER from HOST port PORT ssh2: KEY". Its
/// lines end with CR LF, which Swift takes for one character.
struct RefusedKeys {
  /// Refusals in all.
  var count = 0
  /// Keys that one connection offered again after their refusal.
  var repeated = 0
  /// Connections that ended before anybody was logged in. A key that is forgotten between the
  /// question for it and the signature is refused with no line but this.
  var unauthenticated = 0

  init(log: String) {
    var seen: Set<Substring> = []
    for line in log.split(whereSeparator: \.isNewline) {
      if line.contains(" authenticating user ") { unauthenticated += 1 }
      guard let range = line.range(of: "Failed publickey for ") else { continue }
      count += 1
      if !seen.insert(line[range.upperBound...]).inserted { repeated += 1 }
    }
  }
}
