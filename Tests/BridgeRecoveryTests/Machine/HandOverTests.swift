import BridgeErrors
import BridgeRecovery
import Testing

/// A second connection takes over again and again: that is a link that flaps, too.
@Suite struct HandOverTests {
  /// Suspected 1 s after it came up, gone 2 s later, its second up meanwhile: for `time`, as often
  /// as it is allowed. How many dials began.
  private func dials(in time: Duration, standby: Bool) throws -> Int {
    var bench = MachineBench()
    try bench.add("a")
    var (live, dials) = (1, 1)
    bench.connect("a", 1)
    while bench.now - bench.start < time {
      bench.now += .seconds(1)
      let id = ConnectionID("a")
      if standby {
        bench.step(.suspected(id, generation: live, silentFor: .seconds(1)))
        let next = bench.pump(["a"], for: .seconds(2))
        dials += next.count
        if let next = next.last { bench.connect("a", next) }
      } else {
        bench.now += .seconds(2)
      }
      bench.fail("a", live, .linkSilent, .sshTimeout(seconds: 2))
      if case .up(let generation) = bench.state("a") {
        live = generation
        continue
      }
      let next = bench.pump(["a"], for: .seconds(60))
      dials += next.count
      live = try #require(next.last)
      bench.connect("a", live)
    }
    return dials
  }

  @Test func aLinkThatIsHandedOverAllTheTimeMakesNoMoreDialsThanOneThatIsReset() throws {
    let reset = try dials(in: .seconds(2_400), standby: false)
    let handedOver = try dials(in: .seconds(2_400), standby: true)
    #expect(reset < 110)
    #expect(handedOver < 110, "\(handedOver) dials in 40 min, \(reset) by reset")
  }

  /// How long after each suspicion of one generation its second is dialed.
  @Test func asLongAsItIsNotHealthySecondsAreDialledLaterAndLater() throws {
    var bench = MachineBench()
    try bench.add("a")
    bench.connect("a", 1)
    var waits: [Duration] = []
    for _ in 0..<9 {
      bench.step(.suspected(ConnectionID("a"), generation: 1, silentFor: .seconds(1)))
      let since = bench.now
      let next = try #require(bench.pump(["a"], for: .seconds(60)).last)
      waits.append(bench.now - since)
      bench.connect("a", next)
      bench.step(.cleared(ConnectionID("a"), generation: 1))
      bench.step(.tornDown(ConnectionID("a"), generation: next))
    }
    #expect(waits.first == .zero)
    #expect(waits.dropFirst().contains { $0 > .seconds(1) }, "\(waits)")
  }

  @Test func whatWasCalmForALongTimeMakesItsSecondReadyAtOnce() throws {
    var bench = MachineBench()
    try bench.add("a")
    bench.connect("a", 1)
    for _ in 0..<30 {
      bench.now += .seconds(60)
      bench.step(.timer(.health(ConnectionID("a"))))
      bench.step(.proved(ConnectionID("a"), generation: 1))
      bench.step(.suspected(ConnectionID("a"), generation: 1, silentFor: .seconds(5)))
      #expect(bench.dials.count == 1)
      let next = bench.machine.state(of: ConnectionID("a"))
      #expect(next == .degraded(generation: 1))
      bench.step(.cleared(ConnectionID("a"), generation: 1))
      bench.tearDownAll("a")
    }
  }

  @Test(arguments: [false, true])
  func aProbeThatIsUpAndIsClosedOrSuspendedGivesItsPermitBack(isClosed: Bool) throws {
    var bench = MachineBench()
    try bench.add("parent", site: "other:22")
    bench.connect("parent")
    try bench.add("b")
    try bench.add("a", parents: ["parent"])
    bench.connect("b")
    bench.connect("a")
    let live = try bench.tripBreaker(with: "a")
    bench.fail("b", 1, .linkLost)
    if isClosed {
      bench.step(.close(ConnectionID("a")))
    } else {
      bench.fail("parent", 1, .linkLost)
    }
    let atOnce = bench.dials
    let since = bench.now
    bench.step(.tornDown(ConnectionID("a"), generation: live))
    if !atOnce.contains("b#2") { #expect(bench.pump(["b"], for: .seconds(120)).last == 2) }
    #expect(bench.now - since <= .seconds(1))
  }
}

/// What a server asks for is kept, whatever the network does.
@Suite struct AskedToWaitTests {
  private static let busy = AppError.sshServerBusy(host: "h", retryAfter: 300)

  private func turnedAway(_ kind: FailureKind, _ error: AppError) throws -> MachineBench {
    var bench = MachineBench()
    try bench.add("a")
    bench.fail("a", 1, kind, error)
    return bench
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
    var bench = try turnedAway(kind, error)
    for _ in 0..<3 {
      bench.now += .seconds(1)
      bench.step(.pathChanged())
      #expect(bench.dials.isEmpty)
    }
    bench.step(.reconnectNow(ConnectionID("a")))
    #expect(bench.dials == ["a#2"])
  }

  @Test func theOthersOfThatHostKeepItToo() throws {
    var bench = MachineBench()
    try bench.add("b")
    try bench.add("a")
    bench.connect("b", 1)
    bench.fail("a", 1, .throttled, Self.busy)
    bench.fail("b", 1, .linkLost)
    bench.step(.pathChanged())
    #expect(bench.dials.isEmpty)
  }

  @Test(arguments: [FailureKind.refused, .dropped, .silent])
  func everyOtherWaitIsCutShortByAChangedPath(kind: FailureKind) throws {
    var bench = MachineBench()
    try bench.add("a")
    var generation = 1
    bench.fail("a", 1, kind)
    while !bench.dials.isEmpty {
      generation += 1
      bench.fail("a", generation, kind)
    }
    bench.step(.pathChanged())
    #expect(bench.dials == ["a#\(generation + 1)"])
  }

  /// sshd turns a share of new connections away while too many are not authenticated yet, and
  /// forgets that as soon as they are: a longer wait than half a minute does not help.
  @Test func waitsBecauseOfMaxStartupsGrowToHalfAMinuteOnly() throws {
    let context = FailureContext(kind: .throttled, phase: .banner, host: "h", port: 22)
    var bench = MachineBench()
    try bench.add("a")
    var waits: [Duration] = []
    for generation in 1...6 {
      let error = AppError.sshServerBusy(host: "h", retryAfter: nil)
      bench.step(
        .failed(
          ConnectionID("a"), generation: generation, ConnectionError(error, context: context)))
      bench.step(.tornDown(ConnectionID("a"), generation: generation))
      let since = bench.now
      #expect(bench.pump(["a"], for: .seconds(700)).last == generation + 1)
      waits.append(bench.now - since)
    }
    #expect(waits.allSatisfy { $0 >= .seconds(15) && $0 <= .seconds(30) }, "\(waits)")
  }

  @Test func waitsBecauseOfAnotherShortageStillDouble() throws {
    var bench = try turnedAway(.refusedUpgrade(status: 429), .apiRateLimited(retryAfter: nil))
    var last = Duration.zero
    for generation in 2...5 {
      let since = bench.now
      #expect(bench.pump(["a"], for: .seconds(700)).last == generation)
      last = bench.now - since
      bench.fail("a", generation, .refusedUpgrade(status: 429), .apiRateLimited(retryAfter: nil))
    }
    #expect(last > .seconds(60))
  }
}
