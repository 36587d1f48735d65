import BridgeErrors
import BridgeRecovery
import Testing

/// What one link meets, and what does not hold up the others of its host.
@Suite struct FairnessTests {
  private static let down = AppError.sshConnectionFailed(host: "h", reason: "r")

  /// The waits of `name` that the last step reported.
  private func waits(of name: String, _ bench: MachineBench) -> [Duration?] {
    bench.actions.compactMap { action -> Duration?? in
      guard case .publish(let event) = action, event.source == name,
        case .waiting(let plan) = event.step
      else { return nil }
      return .some(plan.at)
    }
  }

  /// The answer to an upgrade is about a credential, a path, a quota.
  @Test(arguments: [401, 404, 409, 429, 503])
  func anAnswerToTheUpgradeIsAboutOneLinkAlone(status: Int) throws {
    var bench = MachineBench()
    try bench.add("a", limitsUnauthenticated: false)
    bench.connect("a")
    bench.fail("a", 1, .linkLost)
    bench.fail("a", 2, .refusedUpgrade(status: status), .apiRateLimited(retryAfter: 600))
    try bench.add("b", limitsUnauthenticated: false)
    #expect(bench.dials == ["b#1"])
  }

  /// A `make` that waits for its token server is no dial: the host is not held up by it.
  @Test func aConnectionThatIsNeverMadeHoldsUpNoOther() throws {
    var bench = MachineBench()
    for name in ["a", "b"] {
      try bench.add(name)
      bench.connect(name)
    }
    bench.unmade = ["a"]
    bench.fail("a", 1, .linkLost)
    bench.fail("b", 1, .linkLost)
    #expect(bench.dials == ["b#2"])
    // What cannot be made is no failure of the host either.
    bench.step(.unprepared(ConnectionID("a"), ConnectionError(.timeout(seconds: 30))))
    #expect(bench.names.contains("failed"))
    bench.fail("b", 2, .dropped)
    #expect(bench.pump(["b"], for: .seconds(60)) == [3])
  }

  @Test func aConnectionWhoseLinkIsClosedBeforeItsTurnIsLetGo() throws {
    var bench = MachineBench()
    bench.unmade = ["a"]
    try bench.add("a")
    bench.step(.close(ConnectionID("a")))
    let isDiscarded = bench.actions.contains { if case .discard = $0 { true } else { false } }
    #expect(isDiscarded)
    bench.step(.prepared(ConnectionID("a")))
    #expect(bench.actions.isEmpty, "It comes too late.")
  }

  @Test func aPersonNeedNotWaitForADialThatHangs() throws {
    var bench = MachineBench()
    for name in ["a", "b"] {
      try bench.add(name)
      bench.connect(name)
    }
    for name in ["a", "b"] { bench.fail(name, 1, .linkLost) }
    #expect(bench.state("a") == .connecting(generation: 2) && bench.state("b") == .ready)
    bench.step(.reconnectNow(ConnectionID("b")))
    #expect(bench.dials == ["b#2"])
  }

  @Test func aLinkThatWaitsForItsTurnReportsIt() throws {
    var bench = MachineBench()
    try bench.add("a")
    bench.fail("a", 1, .throttled, .sshServerBusy(host: "h", retryAfter: 90))
    try bench.add("b")
    let reported = waits(of: "b", bench)
    #expect(reported.count == 1 && bench.dials.isEmpty)
    #expect(try #require(reported.first ?? nil) >= .seconds(90))
  }

  /// A server that answers and ends each connection as agreed works, however often.
  @Test(arguments: [
    (FailureKind.closedByApplication, 4_000), (.linkLost, 1_001), (.linkLost, 1_012),
  ])
  func endsThatThePeerExplainsOpenNoBreaker(kind: FailureKind, code: Int) throws {
    var bench = MachineBench()
    for number in 0..<20 {
      let name = "c\(number)"
      try bench.add(name, limitsUnauthenticated: false)
      bench.connect(name)
      bench.fail(name, 1, kind, .webSocketDisconnected(code: code, reason: nil))
      bench.step(.close(ConnectionID(name)))
      bench.tearDownAll(name)
    }
    try bench.add("next", limitsUnauthenticated: false)
    #expect(bench.dials == ["next#1"])
  }

  /// MaxStartups is sshd's; a WebSocket that ended leaves nothing there.
  @Test func shortConnectionsOfOtherProtocolsTakeNoSlot() throws {
    var bench = MachineBench()
    for number in 0..<30 {
      try bench.add("c\(number)", limitsUnauthenticated: false)
      #expect(bench.dials == ["c\(number)#1"])
      bench.step(.connected(ConnectionID("c\(number)"), generation: 1))
      bench.step(.close(ConnectionID("c\(number)")))
      bench.step(.tornDown(ConnectionID("c\(number)"), generation: 1))
    }
    #expect(bench.machine.unauthenticated(to: MachineBench.site) == 0)
  }

  @Test func aHostWithAnotherKeyIsDialedAgainByALinkThatIsAddedAfterItsLastOneWent() throws {
    var bench = MachineBench()
    try bench.add("a")
    bench.fail("a", 1, .hostKeyChanged, .sshHostKeyMismatch(host: "h"))
    bench.step(.close(ConnectionID("a")))
    try bench.add("b")
    let isDialed = !bench.dials.isEmpty || bench.pump(["b"], for: .seconds(60)) == [1]
    #expect(isDialed)
    #expect(bench.machine.obstacle(to: ConnectionID("b")) == nil)
  }

  /// A connection that ends before it was heard leaves its slot with its process, not with the time
  /// that a host has for its proof: the links that wait are asked again then.
  @Test func theSlotOfAConnectionThatEndsUnheardIsFreeSoon() throws {
    var bench = MachineBench()
    for number in 0..<RecoveryDefaults.unauthenticatedDials {
      try bench.add("c\(number)")
      bench.step(.connected(ConnectionID("c\(number)"), generation: 1))
    }
    try bench.add("next")
    #expect(bench.dials.isEmpty)
    bench.now += .seconds(1)
    bench.step(.close(ConnectionID("c0")))
    #expect(bench.pump(["next"], for: RecoveryDefaults.departureTime) == [1])
  }

  /// Dev containers come and go on ports of their own.
  @Test func ofHostsThatAreNotUsedAnyMoreNothingIsKept() throws {
    var bench = MachineBench()
    for number in 0..<200 {
      let site = "127.0.0.1:\(number)"
      try bench.add("c", site: site)
      if number.isMultiple(of: 2) { bench.connect("c") } else { bench.fail("c", 1, .dropped) }
      bench.step(.close(ConnectionID("c")))
      bench.tearDownAll("c")
      bench.now += .seconds(1)
    }
    #expect(bench.machine.siteCount <= 100)
    _ = bench.pump([], for: .seconds(600))
    #expect(bench.machine.siteCount == 0)
  }

  /// What was spent on a host is remembered although its link went: storms have many names.
  @Test func aLinkThatIsClosedAndAddedAgainGetsNoFreshBudget() throws {
    var bench = MachineBench()
    var dials = 0
    for _ in 0..<40 {
      try bench.add("a")
      dials += bench.dials.count
      if !bench.dials.isEmpty { bench.fail("a", 1, .dropped) }
      bench.step(.close(ConnectionID("a")))
      bench.tearDownAll("a")
    }
    #expect(dials <= 10)
  }
}
