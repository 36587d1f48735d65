import BridgeErrors
import BridgeRecovery
import Testing

@Suite struct SupervisorStateMachineTests {
  @Test func childrenStartAfterAllTheyDependOnAndStopWithAnyOfIt() throws {
    var house = House()
    try house.add("child", parents: ["one", "two"])
    #expect(house.state("child") == .suspended)
    try house.add("one")
    try house.add("two", site: "other:22")
    house.connect("one")
    #expect(house.state("child") == .suspended)
    house.connect("two")
    #expect(house.dials == ["child#1"])
    house.connect("child")
    house.fail("two", 1, .linkLost)
    #expect(house.state("child") == .suspended)
    #expect(house.machine.budget(of: House.site, at: house.now) == 100)
  }

  @Test func aChainRestartsParentsFirst() throws {
    var house = House()
    for (name, parents) in [("a", []), ("b", ["a"]), ("c", ["b"])] {
      try house.add(name, parents: parents)
      house.connect(name)
    }
    house.fail("a", 1, .linkLost)
    #expect(["b", "c"].map { house.state($0) } == [.suspended, .suspended])
    #expect(house.dials == ["a#2"])
    house.connect("a", 2)
    #expect(house.dials.isEmpty)
    house.step(.tornDown(ConnectionID("b"), generation: 1))
    #expect(house.dials == ["b#2"])
  }

  @Test(arguments: [["a"], ["c"], ["x", "c"]])
  func cyclesAreRefused(parents: [String]) throws {
    var house = House()
    try house.add("b", parents: ["a"])
    try house.add("c", parents: ["b"])
    #expect(throws: AppError.self) { try house.add("a", parents: parents) }
  }

  @Test func aLostParentIsReportedOnceAndItsChildrenAreACountOnIt() throws {
    var house = House()
    try house.add("parent")
    house.connect("parent")
    for name in ["x", "y"] {
      try house.add(name, parents: ["parent"])
      house.connect(name)
    }
    for name in ["x", "y"] { house.fail(name, 1, .linkLost) }
    house.fail("parent", 1, .linkLost)
    house.now += .seconds(1)
    house.step(.timer(.queue))
    #expect(house.machine.queue.shown?.source == "parent")
    #expect(house.machine.queue.shown?.count == 3)
    #expect(house.machine.queue.waiting.isEmpty)
  }

  @Test func childrenThatFailTogetherPutTheirParentInDoubt() throws {
    var house = House()
    try house.add("parent")
    house.connect("parent")
    for name in ["x", "y"] {
      try house.add(name, parents: ["parent"])
      house.connect(name)
    }
    house.fail("x", 1, .linkLost)
    #expect(!house.actions.contains { if case .disturb = $0 { true } else { false } })
    house.now += .milliseconds(200)
    house.fail("y", 1, .linkLost)
    #expect(house.actions.contains { if case .disturb = $0 { true } else { false } })
  }

  @Test func manyAreDialledEightAtATime() throws {
    var house = House()
    for number in 0..<20 { try house.add("c\(number)") }
    #expect(house.machine.dialsInFlight(to: House.site) == 8)
    house.connect("c0")
    #expect(house.dials == ["c8#1"])
    house.fail("c1", 1, .dropped)
    #expect(house.machine.dialsInFlight(to: House.site) == 7)
  }

  @Test func whatTheHostMayStillCountIsCounted() throws {
    var house = House()
    for number in 0..<40 { try house.add("c\(number)") }
    house.step(.connected(ConnectionID("c0"), generation: 1))
    #expect(house.dials.isEmpty)
    house.step(.proved(ConnectionID("c0"), generation: 1))
    #expect(house.dials == ["c8#1"])
    // We close it: its process over there ends some time.
    house.fail("c1", 1, .authenticationRefused, .sshAuthenticationFailed(method: "m"))
    #expect(house.dials.isEmpty)
    #expect(house.machine.unauthenticated(to: House.site) == 8)
    house.now += RecoveryDefaults.departureTime
    house.step(.timer(.host(House.site)))
    #expect(house.dials == ["c9#1"])
    // It is told that it is in, and is lost before it is heard.
    house.step(.connected(ConnectionID("c2"), generation: 1))
    house.step(.close(ConnectionID("c2")))
    #expect(house.dials.isEmpty)
    house.now += RecoveryDefaults.departureTime
    house.step(.timer(.host(House.site)))
    #expect(house.dials == ["c10#1"])
    // It is never heard, and does not fail either.
    house.step(.connected(ConnectionID("c3"), generation: 1))
    house.now += RecoveryDefaults.proofLimit
    house.step(.timer(.host(House.site)))
    #expect(house.dials == ["c11#1"])
    // It ended itself: nothing of it is left.
    house.fail("c4", 1, .dropped)
    #expect(house.machine.unauthenticated(to: House.site) == 7)
  }

  @Test func whileTheHostIsDownOneIsDialledAtATimeAndTheRestFollowItsOutcome() throws {
    var house = House()
    let names = (0..<200).map { "c\($0)" }
    for name in names {
      try house.add(name)
      house.connect(name)
    }
    for name in names { house.fail(name, 1, .linkLost) }
    #expect(house.machine.dialsInFlight(to: House.site) == 1)
    house.fail("c0", 2, .refused)
    #expect(house.machine.dialsInFlight(to: House.site) <= 1)
    house.now += .seconds(1)
    house.step(.timer(.host(House.site)))
    #expect(house.machine.dialsInFlight(to: House.site) == 1)
    let next = names.first { if case .connecting = house.state($0) { true } else { false } }
    house.connect(try #require(next), 2)
    #expect(house.machine.dialsInFlight(to: House.site) == 8)
  }

  @Test func aChangedHostKeyStopsEveryDialUntilAPersonHasDecided() throws {
    var house = House()
    for name in ["a", "b"] {
      try house.add(name)
      house.connect(name)
    }
    house.fail("a", 1, .linkLost)
    house.fail("a", 2, .hostKeyChanged, .sshHostKeyMismatch(host: "h"))
    #expect(house.machine.queue.shown?.error == .sshHostKeyMismatch(host: "h"))
    house.fail("b", 1, .linkLost)
    house.now += .seconds(3_600)
    house.step(.timer(.host(House.site)))
    house.step(.pathChanged)
    #expect(house.dials.isEmpty)
    house.step(.reconnectNow(ConnectionID("a")))
    #expect(house.dials == ["a#3"])
    house.connect("a", 3)
    #expect(house.dials == ["b#2"])
    #expect(house.machine.queue.shown == nil)
  }

  @Test func aHostKeyOfANewTypeStopsOnlyItsOwnLink() throws {
    var house = House()
    for name in ["a", "b"] {
      try house.add(name)
      house.connect(name)
    }
    house.fail("a", 1, .linkLost)
    house.fail("a", 2, .hostKeyNewType, .sshHostKeyUnknown(host: "h", fingerprint: "SHA256:a"))
    house.fail("b", 1, .linkLost)
    #expect(house.dials == ["b#2"])
  }

  @Test func aHostThatDropsEveryHandshakeCostsItsBudgetAndThenOneDialInHalfAMinute() throws {
    var house = House()
    try house.add("a")
    var dialsAt: [Duration] = [.zero]
    var generation = 1
    while house.now - house.start < .seconds(600) {
      house.fail("a", generation, .dropped)
      while house.dials.isEmpty, house.now - house.start < .seconds(600) {
        house.now += .milliseconds(500)
        house.step(.timer(.retry(ConnectionID("a"))))
        if house.dials.isEmpty { house.step(.timer(.host(House.site))) }
      }
      generation += 1
      dialsAt.append(house.now - house.start)
      #expect(house.machine.budget(of: House.site, at: house.now).map { $0 >= 0 } == true)
    }
    let late = dialsAt.filter { $0 > .seconds(300) }.count
    #expect(late >= 9 && late <= 12)
  }

  @Test func aHostThatRefusesCostsNothing() throws {
    var house = House()
    try house.add("a")
    for generation in 1...50 {
      house.fail("a", generation, .refused)
      house.now += .seconds(1)
      if house.dials.isEmpty { house.step(.timer(.retry(ConnectionID("a")))) }
      #expect(house.dials == ["a#\(generation + 1)"])
    }
  }

  @Test func aLinkThatIsLostAgainAndAgainOpensTheBreaker() throws {
    var house = House()
    try house.add("a")
    var generation = 1
    var dials = 0
    while house.now - house.start < .seconds(180) {
      house.connect("a", generation)
      house.now += .milliseconds(100)
      house.fail("a", generation, .linkLost)
      while house.dials.isEmpty, house.now - house.start < .seconds(180) {
        house.now += .milliseconds(100)
        house.step(.timer(.retry(ConnectionID("a"))))
        if house.dials.isEmpty { house.step(.timer(.host(House.site))) }
      }
      generation += 1
      dials += 1
    }
    #expect(dials < 25)
  }

  @Test func aProbeThatIsLostBesideAnotherHoldsTheBreakerForOnePauseOnly() throws {
    var house = House()
    for name in ["b", "a"] { try house.add(name) }
    house.connect("b")
    house.connect("a")
    // Tripped by one link, which then waits for the probe; the other one stays up.
    var (generation, waited) = (1, Duration.zero)
    while waited < RecoveryDefaults.probeInterval - .seconds(5) {
      house.fail("a", generation, .linkLost)
      (waited, generation) = (house.waitForDial(of: "a"), generation + 1)
      house.connect("a", generation)
    }
    house.fail("b", 1, .linkLost)
    house.fail("a", generation, .linkLost)
    let pause = house.waitForDial(of: nil)
    #expect(pause > .seconds(1) && pause <= RecoveryDefaults.probeInterval + .seconds(1))
  }

  @Test func aLinkThatProbesTheBreakerMayMakeASecondReady() throws {
    var house = House()
    try house.add("a")
    try house.add("b")
    for name in ["a", "b"] { house.connect(name) }
    var generation = 1
    // Lost until nothing is dialled any more but a probe after half a minute.
    var waited = Duration.zero
    while waited < .seconds(20) {
      house.fail("a", generation, .linkLost)
      waited = .zero
      while house.dials.isEmpty {
        house.now += .milliseconds(100)
        waited += .milliseconds(100)
        house.step(.timer(.retry(ConnectionID("a"))))
        if house.dials.isEmpty { house.step(.timer(.host(House.site))) }
      }
      generation += 1
      house.connect("a", generation)
    }
    // Nobody else may dial now, but the second of the one that probes.
    house.step(.suspected(ConnectionID("b"), generation: 1, silentFor: .seconds(6)))
    #expect(house.dials.isEmpty)
    house.step(.suspected(ConnectionID("a"), generation: generation, silentFor: .seconds(6)))
    #expect(house.dials == ["a#\(generation + 1)"])
    house.connect("a", generation + 1)
    house.fail("a", generation, .linkSilent, .sshTimeout(seconds: 8))
    #expect(house.state("a") == .up(generation: generation + 1))
    // It is trusted in its time, and with it the host: at once, not when the probe would be over.
    house.now += RecoveryDefaults.healthyAfter
    house.step(.proved(ConnectionID("a"), generation: generation + 1))
    #expect(house.dials == ["b#2"])
  }

  @Test func whatIsShownIsToldOnceAndTakenBackOnce() throws {
    var house = House()
    house.step(.report(.init(error: .networkUnavailable, source: "s")))
    house.step(.report(.init(error: .networkUnavailable, source: "s")))
    #expect(house.names.isEmpty)
    house.step(.report(.init(error: .timeout(seconds: 1), source: "s")))
    #expect(house.names == ["withdrawn", "surfaced"])
    house.step(.resolve(source: "s"))
    #expect(house.names == ["withdrawn"])
  }
}

extension House {
  /// Lets time pass until a dial starts, two minutes at most.
  fileprivate mutating func waitForDial(of name: String?) -> Duration {
    let began = now
    while dials.isEmpty, now - began < .seconds(120) {
      now += .milliseconds(100)
      for id in [name].compactMap(\.self) + (name == nil ? ["a", "b"] : []) where dials.isEmpty {
        step(.timer(.retry(ConnectionID(id))))
      }
      if dials.isEmpty { step(.timer(.host(House.site))) }
    }
    return now - began
  }
}
