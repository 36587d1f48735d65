import BridgeErrors
import BridgeFaults
import BridgeStore
import Testing

@testable import BridgeAgentHost

/// Times are in milliseconds from the beginning; a lease lasts 1,000.
@Suite("A host carries what is its own, and nothing else") struct HostLeasesTests {
  private static let timing = AgentHostTiming(
    lasting: .seconds(1), spread: .zero, pause: .milliseconds(100),
    longestPause: .milliseconds(350), steady: .seconds(60))

  private func lease(
    _ agent: String = "a", fence: Int64 = 1, host: String = "host"
  ) -> AgentLease {
    AgentLease(agent: agent, host: host, fence: fence)
  }

  private func agent(_ name: String, remaining: Int? = nil) -> StoredAgent {
    StoredAgent(
      name: name,
      carrier: remaining.map {
        .init(lease: lease(name, host: "dead"), remaining: .milliseconds($0))
      })
  }

  /// A host that carries `a` since 0.
  private func carrying() -> HostLeases {
    var leases = HostLeases(Self.timing, host: "host")
    #expect(leases.take(from: [agent("a")], at: .zero) == ["a"])
    #expect(leases.begin(lease(), until: .seconds(1), at: .zero) == true)
    return leases
  }

  @Test func whatNoHostCarriesIsTakenOnce() {
    var leases = HostLeases(Self.timing, host: "host")
    let agents = [agent("free"), agent("expired", remaining: 0), agent("carried", remaining: 1)]
    #expect(Set(leases.take(from: agents, at: .zero)) == ["free", "expired"])
    #expect(leases.take(from: agents, at: .zero) == [])
    leases.miss("free")
    #expect(leases.take(from: agents, at: .zero) == ["free"])
  }

  /// The answer was so long on its way that the lease has ended here.
  @Test func aLeaseThatEndedOnItsWayBeginsNothing() {
    var leases = HostLeases(Self.timing, host: "host")
    let asked = [leases.request("a"), leases.request("a")]
    #expect(asked == [true, false])
    #expect(leases.begin(lease(), until: .seconds(1), at: .seconds(1)) == false)
    #expect(leases.isEmpty)
  }

  @Test func anAgentThatIsClosedIsNotTaken() {
    var leases = HostLeases(Self.timing, host: "host")
    var closed = agent("closed")
    closed.isClosed = true
    #expect(leases.take(from: [agent("free"), closed], at: .zero) == ["free"])
  }

  /// Its work may say some last things; nothing is renewed, and nothing is to be given up.
  @Test func workThatHasClosedItsAgentReturnsInPeace() {
    var leases = carrying()
    leases.close(lease())
    #expect(leases.leases == [] && leases.mayGoOn(lease()))
    #expect(leases.pass(to: .seconds(5)) == [])
    #expect(leases.request("a") == false)
    #expect(leases.end(lease(), with: .cancelled, at: .seconds(5)) == .leave)
    #expect(leases.isEmpty && leases.counts == HostLeases.Counts())
  }

  @Test func aShutdownAsksAlsoTheWorkOfAClosedAgentToEnd() {
    var leases = carrying()
    leases.open()
    leases.close(lease())
    #expect(leases.stop(at: .zero) == [] && !leases.mayGoOn(lease()))
  }

  @Test func workGoesOnForAsLongAsItsLeaseIsRenewed() {
    var leases = carrying()
    leases.renew([lease()], held: [lease()], until: .seconds(2))
    #expect(leases.pass(to: .milliseconds(1999)) == [] && leases.mayGoOn(lease()))
    // An answer that comes late does not make it shorter.
    leases.renew([lease()], held: [lease()], until: .milliseconds(1500))
    _ = leases.pass(to: .milliseconds(1999))
    #expect(leases.mayGoOn(lease()))
    _ = leases.pass(to: .seconds(2))
    #expect(!leases.mayGoOn(lease()))
  }

  @Test func whatTheStoreHasGivenToAnotherHostEnds() {
    var leases = carrying()
    leases.renew([lease()], held: [], until: .seconds(2))
    #expect(!leases.mayGoOn(lease()) && leases.leases.isEmpty)
    // It is not taken again before the work here has ended.
    #expect(leases.take(from: [agent("a")], at: .zero) == [])
    #expect(leases.end(lease(), with: nil, at: .zero) == .leave)
    #expect(leases.take(from: [agent("a")], at: .zero) == ["a"])
  }

  @Test func aRefusedWriteEndsTheWorkUnderItsLeaseAlone() {
    var leases = carrying()
    leases.lose(lease(fence: 9))
    #expect(leases.mayGoOn(lease()))
    leases.lose(lease())
    #expect(!leases.mayGoOn(lease()))
  }

  /// A renewal that was requested before the lease was given up says nothing of the one after it.
  @Test func aLateAnswerIsNotOfTheNextLease() {
    var leases = carrying()
    leases.lose(lease())
    _ = leases.end(lease(), with: .agentBusy, at: .zero)
    #expect(leases.take(from: [agent("a")], at: .zero) == ["a"])
    #expect(leases.begin(lease(fence: 2), until: .seconds(1), at: .zero) == true)
    leases.renew([lease(fence: 1)], held: [], until: .seconds(2))
    #expect(leases.mayGoOn(lease(fence: 2)))
  }

  @Test func workThatIsOverRemovesItsAgent() {
    var leases = carrying()
    #expect(leases.end(lease(), with: nil, at: .zero) == .remove(lease()))
    #expect(leases.isEmpty)
  }

  @Test func workThatFailsBeginsAgainAfterLongerAndLongerPauses() {
    var leases = carrying()
    var now = Duration.zero
    for pause in [100, 200, 350, 350] {
      leases.renew([lease()], held: [lease()], until: now + .seconds(1))
      #expect(leases.end(lease(), with: .agentBusy, at: now) == .pause(.milliseconds(pause)))
      #expect(!leases.mayGoOn(lease()) && leases.leases == [lease()])
      #expect(leases.nextInstant == now + .milliseconds(pause))
      #expect(leases.pass(to: now + .milliseconds(pause - 1)) == [])
      now += .milliseconds(pause)
      #expect(leases.pass(to: now) == [lease()] && leases.mayGoOn(lease()))
    }
    now += .seconds(60)
    leases.renew([lease()], held: [lease()], until: now + .seconds(1))
    #expect(leases.end(lease(), with: .agentBusy, at: now) == .pause(.milliseconds(100)))
  }

  @Test func aLeaseThatEndsInAPauseIsLeft() {
    var leases = carrying()
    _ = leases.end(lease(), with: .agentBusy, at: .zero)
    #expect(leases.pass(to: .seconds(1)) == [] && leases.isEmpty)
  }

  @Test func aShutDownAsksForTheEndAndGivesUpWhatIsIdle() {
    var leases = carrying()
    _ = leases.request("b")
    #expect(leases.begin(lease("b"), until: .seconds(1), at: .zero) == true)
    _ = leases.end(lease("b"), with: .agentBusy, at: .zero)
    _ = leases.request("late")
    #expect(leases.stop(at: .zero) == [lease("b")])
    #expect(!leases.mayGoOn(lease()) && leases.leases == [lease()])
    #expect(leases.begin(lease("late"), until: .seconds(1), at: .zero) == false)
    #expect(leases.take(from: [agent("c")], at: .zero) == [])
    #expect(leases.request("c") == false)
    #expect(leases.end(lease(), with: .agentBusy, at: .zero) == .release(lease()))
    #expect(leases.isEmpty)
  }

  /// Its failures are the next host's to count anew.
  @Test func anAgentThatIsGivenUpEndsItsWorkOrIsFreeAtOnce() {
    var leases = carrying()
    #expect(leases.giveUp("b", at: .zero) == nil)
    #expect(leases.giveUp("a", at: .zero) == nil && !leases.mayGoOn(lease()))
    #expect(leases.giveUp("a", at: .zero) == nil && leases.leases == [lease()])
    #expect(leases.end(lease(), with: .cancelled, at: .zero) == .release(lease()))
    #expect(leases.isEmpty && leases.counts.failures == 0)
    var pausing = carrying()
    _ = pausing.end(lease(), with: .agentBusy, at: .zero)
    #expect(pausing.giveUp("a", at: .zero) == lease() && pausing.isEmpty)
    #expect(pausing.request("a") == true)
  }

  @Test func whatHappensIsCounted() {
    var leases = HostLeases(Self.timing, host: "host")
    let own = StoredAgent(name: "b", carrier: .init(lease: lease("b"), remaining: .zero))
    _ = leases.take(from: [agent("a", remaining: 0), own, agent("c")], at: .zero)
    for name in ["a", "b", "c"] {
      #expect(leases.begin(lease(name), until: .seconds(1), at: .zero) == true)
    }
    #expect(leases.counts == .init(takeovers: 1))
    _ = leases.end(lease("a"), with: .agentBusy, at: .zero)
    _ = leases.end(lease("b"), with: nil, at: .zero)
    leases.lose(lease("c"))
    _ = leases.end(lease("c"), with: .agentBusy, at: .zero)
    #expect(leases.counts == .init(takeovers: 1, losses: 1, failures: 1))
  }

  /// Three hosts, frozen, slow and stopped at random, and a store with a clock of its own.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func atNoTimeMayTwoHostsGoOnWithOneAgent(seed: UInt64) {
    var timing = Self.timing
    timing.spread = .milliseconds(250)
    var history = HostHistory(seed: seed, timing)
    for _ in 0..<400 { history.step() }
    #expect(history.began > 0)
  }
}

/// Hosts and a store whose answers take any time.
private struct HostHistory {
  private enum Answer {
    case acquired(AgentLease?, String, since: Duration)
    case renewed([AgentLease], held: [AgentLease], since: Duration)
  }

  private var generator: SplitMix64
  private var hosts: [HostLeases]
  private var running: [[AgentLease]]
  private var answers: [[Answer]]
  private var store: [String: (lease: AgentLease, until: Duration)] = [:]
  private var now = Duration.zero
  private var fence: Int64 = 0
  private let timing: AgentHostTiming
  private let agents = ["a", "b"]
  private(set) var began = 0

  init(seed: UInt64, _ timing: AgentHostTiming) {
    generator = SplitMix64(seed: seed)
    self.timing = timing
    hosts = (0..<3).map { HostLeases(timing, host: "\($0)") }
    running = [[], [], []]
    answers = [[], [], []]
  }

  mutating func step() {
    now += .milliseconds(Int.random(in: 0...80, using: &generator))
    let host = Int.random(in: 0..<3, using: &generator)
    // A host knows the time whenever it does something.
    for lease in hosts[host].pass(to: now) { begin(lease, host) }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1: look(host)
    case 2, 3: renew(host)
    case 4, 5, 6: answer(host)
    case _: end(host, hasFailed: Bool.random(using: &generator))
    }
    check()
  }

  private mutating func begin(_ lease: AgentLease, _ host: Int) {
    began += 1
    running[host].append(lease)
  }

  private mutating func look(_ host: Int) {
    let seen = agents.map { name in
      StoredAgent(
        name: name,
        carrier: store[name].map {
          .init(lease: $0.lease, remaining: max(.zero, $0.until - now))
        })
    }
    for agent in hosts[host].take(from: seen, at: now) {
      // The request arrives at once; its answer does not.
      let isFree = store[agent].map { $0.until <= now } ?? true
      guard isFree else {
        answers[host].append(.acquired(nil, agent, since: now))
        continue
      }
      fence += 1
      let lease = AgentLease(agent: agent, host: "\(host)", fence: fence)
      store[agent] = (lease, now + timing.lasting)
      answers[host].append(.acquired(lease, agent, since: now))
    }
  }

  private mutating func renew(_ host: Int) {
    let asked = hosts[host].leases
    guard !asked.isEmpty else { return }
    let held = asked.filter { store[$0.agent]?.lease == $0 }
    for lease in held { store[lease.agent] = (lease, now + timing.lasting) }
    answers[host].append(.renewed(asked, held: held, since: now))
  }

  private mutating func answer(_ host: Int) {
    guard !answers[host].isEmpty else { return }
    switch answers[host].removeFirst() {
    case .acquired(nil, let agent, _): hosts[host].miss(agent)
    case .acquired(let lease?, _, let since):
      let begins = hosts[host].begin(lease, until: since + timing.lasting, at: now)
      if begins { begin(lease, host) } else { release(lease) }
    case .renewed(let asked, let held, let since):
      hosts[host].renew(asked, held: held, until: since + timing.lasting)
    }
  }

  private mutating func end(_ host: Int, hasFailed: Bool) {
    // What may not go on ends, sooner or later.
    guard let lease = running[host].randomElement(using: &generator) else { return }
    running[host].removeAll { $0 == lease }
    switch hosts[host].end(lease, with: hasFailed ? .agentBusy : nil, at: now) {
    case .remove(let lease), .release(let lease): release(lease)
    case .pause, .leave: break
    }
  }

  private mutating func release(_ lease: AgentLease) {
    if store[lease.agent]?.lease == lease { store[lease.agent] = nil }
  }

  /// Of the hosts that know the time, one at most goes on with an agent, and it has the lease.
  private func check() {
    for agent in agents {
      let carriers = hosts.indices.flatMap { host -> [AgentLease] in
        var leases = hosts[host]
        _ = leases.pass(to: now)
        return running[host].filter { $0.agent == agent && leases.mayGoOn($0) }
      }
      #expect(carriers.count <= 1)
      #expect(carriers.allSatisfy { store[agent]?.lease == $0 })
    }
  }
}
