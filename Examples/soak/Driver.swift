import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import BridgeTransport

/// Lets the faults of one link happen, one after another, and stands in for a person where the
/// link asks for one.
struct Driver: Sendable {
  let fleet: SoakFleet
  let link: SoakLink
  let recorder: Recorder
  let supervisor: Supervisor<ContinuousClock>
  let turnstile: Turnstile
  let progress: Progress

  /// What a link has at most to be well again: two probes of an open breaker.
  static let limit = Duration.seconds(120)

  /// - Parameter gap: how long a link is left alone at least.
  func drive(
    _ blows: [Blow], from start: Moment, until deadline: Moment, gap: Duration
  ) async {
    for blow in blows {
      try? await ContinuousClock().sleep(until: start + blow.at)
      guard await meet(blow, until: deadline) else { return }
      let isWell = await untilWell()
      do throws(FaultError) {
        try await link.proxy.heal()
        try await link.forgetIgnored()
      } catch {
        await recorder.breaks("\(link.id): the proxy could not be healed: \(error)")
      }
      await progress.done()
      if !isWell { return }
      await rest(gap)
    }
  }

  /// Strikes once the link is well and may be struck; false when there is no time left for it.
  private func meet(_ blow: Blow, until deadline: Moment) async -> Bool {
    while .now < deadline {
      guard await untilWell() else { return false }
      guard await recorder.mayBeStruck(link.id) else {
        await rest(.milliseconds(50))
        continue
      }
      do throws(FaultError) { if try await strike(blow) { return true } } catch {
        await recorder.breaks("\(link.id): the \(blow.havoc.rawValue) could not be made: \(error)")
        return true
      }
    }
    return false
  }

  /// False, and nothing done, when the link is not well any more: while it waited for its turn,
  /// another link's fault of the host may have taken it down.
  private func strike(_ blow: Blow) async throws(FaultError) -> Bool {
    guard blow.havoc.isOfHost else { return try await strike(blow, beside: []) }
    await turnstile.enter()
    let others =
      blow.havoc == .keyRefused ? [] : fleet.links.filter { $0.isSSH && $0.id != link.id }
    let result: Result<Bool, FaultError>
    do throws(FaultError) { result = .success(try await strike(blow, beside: others)) } catch {
      result = .failure(error)
    }
    await turnstile.release()
    return try result.get()
  }

  private func strike(_ blow: Blow, beside others: [SoakLink]) async throws(FaultError) -> Bool {
    let isUp = await supervisor.state(of: link.id)?.isUp == true
    guard isUp, await recorder.open(link.id, blow.havoc) else { return false }
    for other in others { await recorder.open(other.id, blow.havoc, isAimed: false) }
    let striker = Striker(fleet: fleet, link: link, supervisor: supervisor)
    let result: Result<Duration, FaultError>
    do throws(FaultError) { result = .success(try await striker.strike(blow)) } catch {
      result = .failure(error)
    }
    let time = (try? result.get()) ?? .zero
    for struck in [link] + others { await recorder.struck(struck.id, for: time) }
    _ = try result.get()
    return true
  }

  /// Waits until the link is up, used, and through with its outage; false after the
  /// limit.
  private func untilWell() async -> Bool {
    let limit = Moment.now + Self.limit
    while .now < limit {
      let state = await supervisor.state(of: link.id)
      if await recorder.isIdle(link.id, isUp: state?.isUp == true) { return true }
      if case .failed = state {
        await rest(.milliseconds(200))
        // No person would choose before the host is in order again.
        await turnstile.pass()
        await StandIn(supervisor: supervisor, recorder: recorder).mend(link)
      }
      await rest(.milliseconds(20))
    }
    let state = await supervisor.state(of: link.id)
    let trace = await recorder.trace(of: link.id)
    await recorder.breaks("\(link.id) is not well after \(Self.limit): \(state as Any), \(trace)")
    return false
  }
}

extension RecoveryStateMachine.State {
  /// Up, and the peer answers.
  var isUp: Bool { if case .up = self { true } else { false } }

  var isWithPerson: Bool { if case .failed = self { true } else { false } }
}

/// One fault of the host at a time.
actor Turnstile {
  private var isTaken = false

  func enter() async {
    while isTaken { await rest(.milliseconds(20)) }
    isTaken = true
  }

  func release() { isTaken = false }

  func pass() async {
    while isTaken { await rest(.milliseconds(20)) }
  }
}

/// Counts the faults that are over and looks at the memory meanwhile.
actor Progress {
  private(set) var count = 0
  private(set) var last = Moment.now
  private(set) var slope: MemorySlope
  private let faults: Int
  private let tells: Bool

  init(faults: Int, tells: Bool) {
    self.faults = faults
    self.tells = tells
    // A third of a thousand faults fills the 4,096 events that the supervisor keeps.
    slope = MemorySlope(warmUp: faults / 3, faults: faults)
  }

  func done() {
    count += 1
    last = .now
    slope.add(after: count, Figures.resident())
    if tells, count.isMultiple(of: max(1, faults / 10)) { say("\(count) faults of \(faults)") }
  }
}
