import BridgeErrors
import BridgeRecovery
import Testing

@Suite struct SupervisorStateMachineTests {
  @Test func childrenStartAfterAllTheyDependOnAndStopWithAnyOfIt() throws {
    var bench = MachineBench()
    try bench.add("child", parents: ["one", "two"])
    #expect(bench.state("child") == .suspended)
    try bench.add("one")
    try bench.add("two", site: "other:22")
    bench.connect("one")
    #expect(bench.state("child") == .suspended)
    bench.connect("two")
    #expect(bench.dials == ["child#1"])
    bench.connect("child")
    bench.fail("two", 1, .linkLost)
    #expect(bench.state("child") == .suspended)
    #expect(bench.machine.budget(of: MachineBench.site, at: bench.now) == 100)
  }

  @Test func aChainRestartsParentsFirst() throws {
    var bench = MachineBench()
    for (name, parents) in [("a", []), ("b", ["a"]), ("c", ["b"])] {
      try bench.add(name, parents: parents)
      bench.connect(name)
    }
    bench.fail("a", 1, .linkLost)
    #expect(["b", "c"].map { bench.state($0) } == [.suspended, .suspended])
    #expect(bench.dials == ["a#2"])
    bench.connect("a", 2)
    #expect(bench.dials.isEmpty)
    bench.step(.tornDown(ConnectionID("b"), generation: 1))
    #expect(bench.dials == ["b#2"])
  }

  @Test(arguments: [["a"], ["c"], ["x", "c"]])
  func cyclesAreRefused(parents: [String]) throws {
    var bench = MachineBench()
    try bench.add("b", parents: ["a"])
    try bench.add("c", parents: ["b"])
    #expect(throws: AppError.self) { try bench.add("a", parents: parents) }
  }

  @Test func aLostParentIsReportedOnceAndItsChildrenAreACountOnIt() throws {
    var bench = MachineBench()
    try bench.add("parent")
    bench.connect("parent")
    for name in ["x", "y"] {
      try bench.add(name, parents: ["parent"])
      bench.connect(name)
    }
    for name in ["x", "y"] { bench.fail(name, 1, .linkLost) }
    bench.fail("parent", 1, .linkLost)
    bench.now += .seconds(1)
    bench.step(.timer(.queue))
    #expect(bench.machine.queue.shown?.source == "parent")
    #expect(bench.machine.queue.shown?.count == 3)
    #expect(bench.machine.queue.waiting.isEmpty)
  }

  @Test func childrenThatFailTogetherPutTheirParentInDoubt() throws {
    var bench = MachineBench()
    try bench.add("parent")
    bench.connect("parent")
    for name in ["x", "y"] {
      try bench.add(name, parents: ["parent"])
      bench.connect(name)
    }
    bench.fail("x", 1, .linkLost)
    #expect(!bench.actions.contains { if case .disturb = $0 { true } else { false } })
    bench.now += .milliseconds(200)
    bench.fail("y", 1, .linkLost)
    #expect(bench.actions.contains { if case .disturb = $0 { true } else { false } })
  }

  @Test func manyAreDialledEightAtATime() throws {
    var bench = MachineBench()
    for number in 0..<20 { try bench.add("c\(number)") }
    #expect(bench.machine.dialsInFlight(to: MachineBench.site) == 8)
    bench.connect("c0")
    #expect(bench.dials == ["c8#1"])
    bench.fail("c1", 1, .dropped)
    #expect(bench.machine.dialsInFlight(to: MachineBench.site) == 7)
  }

  @Test func whatTheHostMayStillCountIsCounted() throws {
    var bench = MachineBench()
    for number in 0..<40 { try bench.add("c\(number)") }
    bench.step(.connected(ConnectionID("c0"), generation: 1))
    #expect(bench.dials.isEmpty)
    bench.step(.proved(ConnectionID("c0"), generation: 1))
    #expect(bench.dials == ["c8#1"])
    // We close it: its process over there ends some time.
    bench.fail("c1", 1, .authenticationRefused, .sshAuthenticationFailed(method: "m"))
    #expect(bench.dials.isEmpty)
    #expect(bench.machine.unauthenticated(to: MachineBench.site) == 8)
    bench.now += RecoveryDefaults.departureTime
    bench.step(.timer(.host(MachineBench.site)))
    #expect(bench.dials == ["c9#1"])
    // It is authenticated, and lost before its first answer.
    bench.step(.connected(ConnectionID("c2"), generation: 1))
    bench.step(.close(ConnectionID("c2")))
    #expect(bench.dials.isEmpty)
    bench.now += RecoveryDefaults.departureTime
    bench.step(.timer(.host(MachineBench.site)))
    #expect(bench.dials == ["c10#1"])
    // It is never heard, and does not fail either.
    bench.step(.connected(ConnectionID("c3"), generation: 1))
    bench.now += RecoveryDefaults.proofLimit
    bench.step(.timer(.host(MachineBench.site)))
    #expect(bench.dials == ["c11#1"])
    // It ended itself: nothing of it is left.
    bench.fail("c4", 1, .dropped)
    #expect(bench.machine.unauthenticated(to: MachineBench.site) == 7)
  }

  @Test func whileTheHostIsDownOneIsDialledAtATimeAndTheRestFollowItsOutcome() throws {
    var bench = MachineBench()
    let names = (0..<200).map { "c\($0)" }
    for name in names {
      try bench.add(name)
      bench.connect(name)
    }
    for name in names { bench.fail(name, 1, .linkLost) }
    #expect(bench.machine.dialsInFlight(to: MachineBench.site) == 1)
    bench.fail("c0", 2, .refused)
    #expect(bench.machine.dialsInFlight(to: MachineBench.site) <= 1)
    bench.now += .seconds(1)
    bench.step(.timer(.host(MachineBench.site)))
    #expect(bench.machine.dialsInFlight(to: MachineBench.site) == 1)
    let next = names.first { if case .connecting = bench.state($0) { true } else { false } }
    bench.connect(try #require(next), 2)
    #expect(bench.machine.dialsInFlight(to: MachineBench.site) == 8)
  }

  @Test func aChangedHostKeyStopsEveryDialUntilAPersonHasDecided() throws {
    var bench = MachineBench()
    for name in ["a", "b"] {
      try bench.add(name)
      bench.connect(name)
    }
    bench.fail("a", 1, .linkLost)
    bench.fail("a", 2, .hostKeyChanged, .sshHostKeyMismatch(host: "h"))
    #expect(bench.machine.queue.shown?.error == .sshHostKeyMismatch(host: "h"))
    bench.fail("b", 1, .linkLost)
    bench.now += .seconds(3_600)
    bench.step(.timer(.host(MachineBench.site)))
    bench.step(.pathChanged())
    #expect(bench.dials.isEmpty)
    bench.step(.reconnectNow(ConnectionID("a")))
    #expect(bench.dials == ["a#3"])
    bench.connect("a", 3)
    #expect(bench.dials == ["b#2"])
    #expect(bench.machine.queue.shown == nil)
  }

  @Test func aHostKeyOfANewTypeStopsOnlyItsOwnLink() throws {
    var bench = MachineBench()
    for name in ["a", "b"] {
      try bench.add(name)
      bench.connect(name)
    }
    bench.fail("a", 1, .linkLost)
    bench.fail("a", 2, .hostKeyNewType, .sshHostKeyUnknown(host: "h", fingerprint: "SHA256:a"))
    bench.fail("b", 1, .linkLost)
    #expect(bench.dials == ["b#2"])
  }

  @Test func aHostThatDropsEveryHandshakeCostsItsBudgetAndThenOneDialInHalfAMinute() throws {
    var bench = MachineBench()
    try bench.add("a")
    var dialsAt: [Duration] = [.zero]
    var generation = 1
    while bench.now - bench.start < .seconds(600) {
      bench.fail("a", generation, .dropped)
      while bench.dials.isEmpty, bench.now - bench.start < .seconds(600) {
        bench.now += .milliseconds(500)
        bench.step(.timer(.retry(ConnectionID("a"))))
        if bench.dials.isEmpty { bench.step(.timer(.host(MachineBench.site))) }
      }
      generation += 1
      dialsAt.append(bench.now - bench.start)
      #expect(bench.machine.budget(of: MachineBench.site, at: bench.now).map { $0 >= 0 } == true)
    }
    let late = dialsAt.filter { $0 > .seconds(300) }.count
    #expect(late >= 9 && late <= 12)
  }

  @Test func aHostThatRefusesCostsNothing() throws {
    var bench = MachineBench()
    try bench.add("a")
    for generation in 1...50 {
      bench.fail("a", generation, .refused)
      bench.now += .seconds(1)
      if bench.dials.isEmpty { bench.step(.timer(.retry(ConnectionID("a")))) }
      #expect(bench.dials == ["a#\(generation + 1)"])
    }
  }

  @Test func aLinkThatIsLostAgainAndAgainOpensTheBreaker() throws {
    var bench = MachineBench()
    try bench.add("a")
    var generation = 1
    var dials = 0
    while bench.now - bench.start < .seconds(180) {
      bench.connect("a", generation)
      bench.now += .milliseconds(100)
      bench.fail("a", generation, .linkLost)
      while bench.dials.isEmpty, bench.now - bench.start < .seconds(180) {
        bench.now += .milliseconds(100)
        bench.step(.timer(.retry(ConnectionID("a"))))
        if bench.dials.isEmpty { bench.step(.timer(.host(MachineBench.site))) }
      }
      generation += 1
      dials += 1
    }
    #expect(dials < 25)
  }

  @Test func aProbeThatIsLostBesideAnotherHoldsTheBreakerForOnePauseOnly() throws {
    var bench = MachineBench()
    for name in ["b", "a"] { try bench.add(name) }
    bench.connect("b")
    bench.connect("a")
    // Tripped by one link, which then waits for the probe; the other one stays up.
    var (generation, waited) = (1, Duration.zero)
    while waited < RecoveryDefaults.probeInterval - .seconds(5) {
      bench.fail("a", generation, .linkLost)
      (waited, generation) = (bench.waitForDial(of: "a"), generation + 1)
      bench.connect("a", generation)
    }
    bench.fail("b", 1, .linkLost)
    bench.fail("a", generation, .linkLost)
    let pause = bench.waitForDial(of: nil)
    #expect(pause > .seconds(1) && pause <= RecoveryDefaults.probeInterval + .seconds(1))
  }

  /// Where dials are slow probes, a second connection beside one that lives is none.
  @Test func whileTheBreakerIsOpenNoSecondIsMadeReady() throws {
    var bench = MachineBench()
    for name in ["a", "b"] {
      try bench.add(name)
      bench.connect(name)
    }
    let generation = try bench.tripBreaker(with: "a")
    for (name, live) in [("b", 1), ("a", generation)] {
      bench.step(.suspected(ConnectionID(name), generation: live, silentFor: .seconds(6)))
      #expect(bench.dials.isEmpty)
    }
    bench.step(.cleared(ConnectionID("a"), generation: generation))
    // The probe works: what waited is dialed.
    bench.now += RecoveryDefaults.healthyAfter
    bench.step(.proved(ConnectionID("a"), generation: generation))
    #expect(bench.dials == ["b#2"])
  }

  @Test func whatIsShownIsToldOnceAndTakenBackOnce() throws {
    var bench = MachineBench()
    bench.step(.report(.init(error: .networkUnavailable, source: "s")))
    bench.step(.report(.init(error: .networkUnavailable, source: "s")))
    #expect(bench.names.isEmpty)
    bench.step(.report(.init(error: .timeout(seconds: 1), source: "s")))
    #expect(bench.names == ["withdrawn", "surfaced"])
    bench.step(.resolve(source: "s"))
    #expect(bench.names == ["withdrawn"])
  }
}

extension MachineBench {
  /// Lets time pass until a dial starts, two minutes at most.
  fileprivate mutating func waitForDial(of name: String?) -> Duration {
    let began = now
    while dials.isEmpty, now - began < .seconds(120) {
      now += .milliseconds(100)
      for id in [name].compactMap(\.self) + (name == nil ? ["a", "b"] : []) where dials.isEmpty {
        step(.timer(.retry(ConnectionID(id))))
      }
      if dials.isEmpty { step(.timer(.host(MachineBench.site))) }
    }
    return now - began
  }
}
