import BridgeErrors
import BridgeRecovery
import Testing

/// A second connection takes over again and again: that is a link that flaps, too.
@Suite struct HandOverTests {
  /// Suspected 1 s after it came up, gone 2 s later, its second up meanwhile: for `time`, as often
  /// as it is allowed. How many dials began.
  private func dials(in time: Duration, standby: Bool) throws -> Int {
    var house = House()
    try house.add("a")
    var (live, dials) = (1, 1)
    house.connect("a", 1)
    while house.now - house.start < time {
      house.now += .seconds(1)
      let id = ConnectionID("a")
      if standby {
        house.step(.suspected(id, generation: live, silentFor: .seconds(1)))
        let next = house.pump(["a"], for: .seconds(2))
        dials += next.count
        if let next = next.last { house.connect("a", next) }
      } else {
        house.now += .seconds(2)
      }
      house.fail("a", live, .linkSilent, .sshTimeout(seconds: 2))
      if case .up(let generation) = house.state("a") {
        live = generation
        continue
      }
      let next = house.pump(["a"], for: .seconds(60))
      dials += next.count
      live = try #require(next.last)
      house.connect("a", live)
    }
    return dials
  }

  @Test func aLinkThatIsHandedOverAllTheTimeMakesNoMoreDialsThanOneThatIsReset() throws {
    let reset = try dials(in: .seconds(2_400), standby: false)
    let handedOver = try dials(in: .seconds(2_400), standby: true)
    #expect(reset < 110)
    #expect(handedOver < 110, "\(handedOver) dials in 40 min, \(reset) by reset")
  }

  /// How long after each suspicion of one generation its second is dialled.
  @Test func asLongAsItIsNotHealthySecondsAreDialledLaterAndLater() throws {
    var house = House()
    try house.add("a")
    house.connect("a", 1)
    var waits: [Duration] = []
    for _ in 0..<9 {
      house.step(.suspected(ConnectionID("a"), generation: 1, silentFor: .seconds(1)))
      let since = house.now
      let next = try #require(house.pump(["a"], for: .seconds(60)).last)
      waits.append(house.now - since)
      house.connect("a", next)
      house.step(.cleared(ConnectionID("a"), generation: 1))
      house.step(.tornDown(ConnectionID("a"), generation: next))
    }
    #expect(waits.first == .zero)
    #expect(waits.dropFirst().contains { $0 > .seconds(1) }, "\(waits)")
  }

  @Test func whatWasCalmForALongTimeMakesItsSecondReadyAtOnce() throws {
    var house = House()
    try house.add("a")
    house.connect("a", 1)
    for _ in 0..<30 {
      house.now += .seconds(60)
      house.step(.timer(.health(ConnectionID("a"))))
      house.step(.proved(ConnectionID("a"), generation: 1))
      house.step(.suspected(ConnectionID("a"), generation: 1, silentFor: .seconds(5)))
      #expect(house.dials.count == 1)
      let next = house.machine.state(of: ConnectionID("a"))
      #expect(next == .degraded(generation: 1))
      house.step(.cleared(ConnectionID("a"), generation: 1))
      house.tearDownAll("a")
    }
  }

  /// A second that is let go says nothing about the first one, which probes the open breaker.
  @Test func aSecondThatIsLetGoLeavesTheProbeOfTheFirst() throws {
    var house = House()
    for name in ["b", "c", "a"] {
      try house.add(name)
      house.connect(name)
    }
    let live = try house.tripBreaker(with: "a")
    house.step(.suspected(ConnectionID("a"), generation: live, silentFor: .seconds(1)))
    let second = try #require(house.pump(["a"], for: .seconds(60)).last)
    house.step(.cleared(ConnectionID("a"), generation: live))
    house.step(.tornDown(ConnectionID("a"), generation: second))
    // Its probe works: the host is open for everybody.
    house.now += RecoveryDefaults.healthyAfter
    house.step(.timer(.health(ConnectionID("a"))))
    house.step(.proved(ConnectionID("a"), generation: live))
    for name in ["b", "c"] {
      house.step(.suspected(ConnectionID(name), generation: 1, silentFor: .seconds(1)))
      #expect(house.dials == ["\(name)#2"])
    }
  }

  @Test(arguments: [false, true])
  func aProbeThatIsUpAndIsClosedOrSuspendedGivesItsPermitBack(isClosed: Bool) throws {
    var house = House()
    try house.add("parent", site: "other:22")
    house.connect("parent")
    try house.add("b")
    try house.add("a", parents: ["parent"])
    house.connect("b")
    house.connect("a")
    let live = try house.tripBreaker(with: "a")
    house.fail("b", 1, .linkLost)
    if isClosed {
      house.step(.close(ConnectionID("a")))
    } else {
      house.fail("parent", 1, .linkLost)
    }
    let atOnce = house.dials
    let since = house.now
    house.step(.tornDown(ConnectionID("a"), generation: live))
    if !atOnce.contains("b#2") { #expect(house.pump(["b"], for: .seconds(120)).last == 2) }
    #expect(house.now - since <= .seconds(1))
  }
}

/// What a server asks for is kept, whatever the network does.
@Suite struct AskedToWaitTests {
  private static let busy = AppError.sshServerBusy(host: "h", retryAfter: 300)

  private func turnedAway(_ kind: FailureKind, _ error: AppError) throws -> House {
    var house = House()
    try house.add("a")
    house.fail("a", 1, kind, error)
    return house
  }

  @Test(arguments: [
    (FailureKind.throttled, AskedToWaitTests.busy),
    (.throttled, .sshServerBusy(host: "h", retryAfter: nil)),
    (.refusedUpgrade(status: 429), .apiRateLimited(retryAfter: 300)),
    (.refusedUpgrade(status: 429), .apiRateLimited(retryAfter: nil)),
  ])
  func aChangedPathDoesNotDialAServerThatAskedToBeLeftAlone(
    kind: FailureKind, error: AppError
  ) throws {
    var house = try turnedAway(kind, error)
    for _ in 0..<3 {
      house.now += .seconds(1)
      house.step(.pathChanged)
      #expect(house.dials.isEmpty)
    }
    house.step(.reconnectNow(ConnectionID("a")))
    #expect(house.dials == ["a#2"])
  }

  @Test func theOthersOfThatHostKeepItToo() throws {
    var house = House()
    try house.add("b")
    try house.add("a")
    house.connect("b", 1)
    house.fail("a", 1, .throttled, Self.busy)
    house.fail("b", 1, .linkLost)
    house.step(.pathChanged)
    #expect(house.dials.isEmpty)
  }

  @Test(arguments: [FailureKind.refused, .dropped, .silent])
  func everyOtherWaitIsCutShortByAChangedPath(kind: FailureKind) throws {
    var house = House()
    try house.add("a")
    var generation = 1
    house.fail("a", 1, kind)
    while !house.dials.isEmpty {
      generation += 1
      house.fail("a", generation, kind)
    }
    house.step(.pathChanged)
    #expect(house.dials == ["a#\(generation + 1)"])
  }

  /// sshd turns a share of new connections away while too many are not authenticated yet, and
  /// forgets that as soon as they are: a longer wait than half a minute helps nobody.
  @Test func waitsBecauseOfMaxStartupsGrowToHalfAMinuteOnly() throws {
    let context = FailureContext(kind: .throttled, phase: .banner, host: "h", port: 22)
    var house = House()
    try house.add("a")
    var waits: [Duration] = []
    for generation in 1...6 {
      let error = AppError.sshServerBusy(host: "h", retryAfter: nil)
      house.step(
        .failed(
          ConnectionID("a"), generation: generation, ConnectionError(error, context: context)))
      house.step(.tornDown(ConnectionID("a"), generation: generation))
      let since = house.now
      #expect(house.pump(["a"], for: .seconds(700)).last == generation + 1)
      waits.append(house.now - since)
    }
    #expect(waits.allSatisfy { $0 >= .seconds(15) && $0 <= .seconds(30) }, "\(waits)")
  }

  @Test func waitsBecauseOfAnotherShortageStillDouble() throws {
    var house = try turnedAway(.refusedUpgrade(status: 429), .apiRateLimited(retryAfter: nil))
    var last = Duration.zero
    for generation in 2...5 {
      let since = house.now
      #expect(house.pump(["a"], for: .seconds(700)).last == generation)
      last = house.now - since
      house.fail("a", generation, .refusedUpgrade(status: 429), .apiRateLimited(retryAfter: nil))
    }
    #expect(last > .seconds(60))
  }
}
