import BridgeFaults
import BridgeStore
import Testing

@testable import BridgeAgentHost

@Suite("Hosts share the agents that none carries") struct HostTurnsTests {
  private static let spread = Duration.milliseconds(100)

  private static func agents(_ names: [String], of host: String? = nil) -> [StoredAgent] {
    names.map { name in
      StoredAgent(
        name: name,
        carrier: host.map {
          .init(lease: AgentLease(agent: name, host: $0, fence: 1), remaining: .seconds(1))
        })
    }
  }

  private static func names(_ prefix: String, _ count: Int) -> [String] {
    (0..<count).map { "\(prefix)\($0)" }
  }

  /// A host that was the only one to survive must not wait for others.
  @Test func onceTheTimeIsOverAnyHostTakesAll() {
    var turns = HostTurns(host: "one", spread: Self.spread)
    let free = Self.agents(Self.names("free", 10))
    let agents = free + Self.agents(Self.names("own", 90), of: "one")
    let isOwn = { (name: String) in name.hasPrefix("own") }
    #expect(turns.take(from: agents, carried: 90, at: .zero, isOwn: isOwn).isEmpty)
    #expect(turns.next == .milliseconds(90))
    let taken = turns.take(from: agents, carried: 90, at: .milliseconds(99), isOwn: isOwn)
    #expect(Set(taken) == Set(free))
  }

  @Test func withoutATimeTheFirstHostTakesAllAtOnce() {
    var turns = HostTurns(host: "one", spread: .zero)
    let agents = Self.agents(Self.names("free", 10))
    #expect(turns.take(from: agents, carried: 5, at: .zero) { _ in false }.count == 10)
  }

  /// Hosts look at different times, and all count from the end of the lease.
  @Test func theTimeCountsFromTheEndOfTheLeaseThatWasSeenBefore() {
    var turns = HostTurns(host: "one", spread: Self.spread)
    let carried = Self.agents(["a"], of: "dead") + Self.agents(["b"], of: "one")
    #expect(turns.take(from: carried, carried: 1, at: .zero) { $0 == "b" }.isEmpty)
    #expect(turns.next == .seconds(1))
    var ended = carried
    ended[0].carrier?.remaining = .zero
    // Its turn came 50 ms behind the end.
    let taken = turns.take(from: ended, carried: 1, at: .milliseconds(1050)) { $0 == "b" }
    #expect(taken.map(\.name) == ["a"])
  }

  @Test func aHostThatDoesNotReachAMachineComesLater() {
    var turns = HostTurns(host: "one", spread: Self.spread)
    let agents = Self.agents(["a"])
    let delay = { (_: StoredAgent) in Duration.seconds(2) }
    func take(at now: Duration) -> Int {
      turns.take(from: agents, carried: 0, at: now, delay: delay) { _ in false }.count
    }
    #expect(take(at: .zero) == 0)
    #expect(turns.next == .seconds(2))
    #expect(take(at: .milliseconds(1999)) == 0)
    #expect(take(at: .seconds(2)) == 1)
  }

  @Test func anAgentThatIsGivenUpEarlyIsFreeFromThenOn() {
    var turns = HostTurns(host: "one", spread: Self.spread)
    _ = turns.take(from: Self.agents(["a"], of: "other"), carried: 0, at: .zero) { _ in false }
    let taken = turns.take(from: Self.agents(["a"]), carried: 0, at: .milliseconds(1)) { _ in
      false
    }
    #expect(taken.map(\.name) == ["a"])
  }

  @Test func anAgentThatIsGoneAndComesAgainCountsAnew() {
    var turns = HostTurns(host: "one", spread: Self.spread)
    let others = Self.agents(["b"], of: "other")
    _ = turns.take(from: Self.agents(["a"]) + others, carried: 1, at: .zero) { _ in false }
    _ = turns.take(from: others, carried: 1, at: .milliseconds(1)) { _ in false }
    let again = Self.agents(["a"]) + others
    #expect(turns.take(from: again, carried: 1, at: .seconds(1)) { _ in false }.isEmpty)
  }

  /// What each host carries before, and in the end: `free` agents have lost their host.
  @Test(arguments: [
    (before: [0], free: 7, after: [7]),
    (before: [0, 0], free: 40, after: [20, 20]),
    (before: [10, 10], free: 10, after: [15, 15]),
    (before: [10, 10, 0], free: 10, after: [10, 10, 10]),
    (before: [30, 0, 10], free: 20, after: [30, 15, 15]),
    (before: [0, 0, 0], free: 200, after: [67, 67, 67]),
  ])
  func thoseWithFewAgentsComeFirst(before: [Int], free: Int, after: [Int]) {
    for seed in 0..<20 as Range<UInt64> {
      var world = SharingHosts(before, free: free, spread: Self.spread, seed: seed)
      world.run(for: Self.spread)
      let counts = world.counts
      #expect(counts.reduce(0, +) == before.reduce(free, +))
      // They look each 5 ms: what grows within that time is taken by the one that looks first.
      let slack = 2 + (before.reduce(free, +) * 5 + 99) / 100
      for (count, goal) in zip(counts, after) { #expect(abs(count - goal) <= slack) }
    }
  }
}

/// Hosts that look at one store, each at times of its own.
private struct SharingHosts {
  private var generator: SplitMix64
  private var turns: [HostTurns]
  /// The host that carries an agent.
  private var carriers: [String: Int?] = [:]

  init(_ before: [Int], free: Int, spread: Duration, seed: UInt64) {
    generator = SplitMix64(seed: seed)
    turns = before.indices.map { HostTurns(host: "host-\($0)", spread: spread) }
    for (host, count) in before.enumerated() {
      for number in 0..<count { carriers["\(host)-\(number)"] = .some(host) }
    }
    for number in 0..<free { carriers["free-\(number)"] = .some(nil) }
  }

  var counts: [Int] {
    turns.indices.map { host in carriers.values.count { $0 == host } }
  }

  mutating func run(for time: Duration) {
    var now = Duration.zero
    while now <= time {
      for host in turns.indices.shuffled(using: &generator) { look(host, at: now) }
      now += .milliseconds(5)
    }
  }

  private mutating func look(_ host: Int, at now: Duration) {
    let agents = carriers.sorted { $0.key < $1.key }.map { name, carrier in
      StoredAgent(
        name: name,
        carrier: carrier.map {
          .init(
            lease: AgentLease(agent: name, host: "host-\($0)", fence: 1), remaining: .seconds(1))
        })
    }
    let before = carriers
    let taken = turns[host].take(from: agents, carried: counts[host], at: now) {
      before[$0] == .some(.some(host))
    }
    for agent in taken { carriers[agent.name] = .some(host) }
  }
}
