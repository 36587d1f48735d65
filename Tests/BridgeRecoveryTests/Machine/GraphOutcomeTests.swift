import BridgeErrors
import BridgeRecovery
import Testing

/// What becomes of links that depend on others when those end: not in which order, but what is
/// shown, dialled and answered afterwards.
@Suite struct GraphOutcomeTests {
  private static let mismatch = AppError.sshHostKeyMismatch(host: "h")
  private static let site = "child:22"

  /// A parent that is up, and children to another site that have begun their first dial.
  private func house(_ children: [String], retriesFirstDial: Bool = true) throws -> House {
    var house = House()
    try house.add("parent")
    house.connect("parent")
    for child in children {
      try house.add(
        child, parents: ["parent"], site: Self.site, retriesFirstDial: retriesFirstDial)
    }
    return house
  }

  /// The parent is lost and comes back a second later.
  private func blink(_ house: inout House) {
    house.fail("parent", 1, .linkLost)
    house.now += .seconds(1)
    house.step(.timer(.queue))
    house.connect("parent", 2)
  }

  @Test func anErrorThatWaitsForAPersonIsShownAfterTheParentHasBlinked() throws {
    var house = try house(["child"])
    house.fail("child", 1, .hostKeyChanged, Self.mismatch)
    #expect(house.machine.queue.shown?.error == Self.mismatch)
    house.now += .seconds(60)
    blink(&house)
    #expect(house.machine.queue.shown?.error == Self.mismatch)
    #expect(house.state("child") == .failed(Self.mismatch))
  }

  /// A dial through a tunnel that is reset is not tried again; the tunnel is.
  @Test func whoGaveUpBecauseItsParentDiedIsDialledWithIt() throws {
    var house = try house(["child"], retriesFirstDial: false)
    house.fail("child", 1, .dropped)
    house.now += .milliseconds(100)
    blink(&house)
    #expect(house.dials == ["child#2"])
    house.connect("child", 2)
    #expect(house.machine.queue.shown == nil && house.machine.queue.waiting.isEmpty)
  }

  /// Silence is noticed late: what failed since the parent was last heard failed because of it.
  @Test func whoGaveUpWhileItsParentWasSilentIsDialledWithIt() throws {
    var house = try house(["child"], retriesFirstDial: false)
    house.now += .seconds(8)
    house.fail("child", 1, .silent, .sshTimeout(seconds: 3))
    house.now += .seconds(2)
    // Last heard before the child gave up.
    house.step(.suspected(ConnectionID("parent"), generation: 1, silentFor: .seconds(5)))
    house.now += .seconds(30)
    blink(&house)
    let isBack = house.dials.contains("child#2") || house.pump(["child"], for: .seconds(5)) == [2]
    #expect(isBack)
  }

  @Test(arguments: [
    (FailureKind.hostKeyChanged, GraphOutcomeTests.mismatch),
    (.authenticationRefused, .sshAuthenticationFailed(method: "publickey")),
  ])
  func noDyingParentExplainsWhatThePeerItselfRefused(kind: FailureKind, error: AppError) throws {
    var house = try house(["child"])
    house.fail("child", 1, kind, error)
    house.now += .milliseconds(100)
    blink(&house)
    #expect(house.dials.isEmpty)
    #expect(house.state("child") == .failed(error))
    #expect(house.machine.queue.shown?.error == error)
  }

  @Test func whoGaveUpLongBeforeItsParentEndedStaysWhereItIs() throws {
    var house = try house(["child"], retriesFirstDial: false)
    house.fail("child", 1, .dropped)
    house.now += .seconds(1)
    blink(&house)
    #expect(house.dials.isEmpty)
    guard case .failed = house.state("child") else {
      Issue.record("\(house.state("child") as Any)")
      return
    }
    #expect(house.machine.queue.shown?.source == "child")
  }

  @Test func whoWaitsForAChildLearnsThatItsParentGaveUp() throws {
    var house = House()
    try house.add("parent")
    try house.add("child", parents: ["parent"], site: Self.site)
    try house.add("grandchild", parents: ["child"], site: Self.site)
    let refused = AppError.sshAuthenticationFailed(method: "m")
    house.fail("parent", 1, .authenticationRefused, refused)
    #expect(house.answered == ["parent": refused, "child": refused, "grandchild": refused])
    for name in ["parent", "child", "grandchild"] {
      #expect(house.machine.obstacle(to: ConnectionID(name)) == refused)
    }
    house.step(.reconnectNow(ConnectionID("parent")))
    #expect(house.machine.obstacle(to: ConnectionID("grandchild")) == nil)
  }

  @Test func whoWaitsForALinkOfAStoppedHostLearnsWhy() throws {
    var house = House()
    for name in ["a", "b", "c"] { try house.add(name) }
    try house.add("child", parents: ["b"], site: Self.site)
    house.connect("c")
    house.fail("b", 1, .dropped)
    house.fail("a", 1, .hostKeyChanged, Self.mismatch)
    #expect(house.answered == ["a": Self.mismatch, "b": Self.mismatch, "child": Self.mismatch])
    #expect(house.machine.obstacle(to: ConnectionID("b")) == Self.mismatch)
    #expect(house.machine.obstacle(to: ConnectionID("c")) == nil)
    house.fail("c", 1, .linkLost)
    #expect(house.answered == ["c": Self.mismatch])
    #expect(house.machine.obstacle(to: ConnectionID("c")) == Self.mismatch)
    house.step(.reconnectNow(ConnectionID("a")))
    #expect(house.machine.obstacle(to: ConnectionID("b")) == nil)
  }

  /// What is dialling when its host is stopped may still be let in; if not, its callers learn why.
  @Test func aDialThatIsUnderWayAtAStoppedHostAnswersWhenItEnds() throws {
    var house = House()
    for name in ["a", "b"] { try house.add(name) }
    house.fail("a", 1, .hostKeyChanged, Self.mismatch)
    #expect(house.answered == ["a": Self.mismatch])
    #expect(house.machine.obstacle(to: ConnectionID("b")) == nil)
    house.fail("b", 1, .dropped)
    #expect(house.answered == ["b": Self.mismatch])
  }

  @Test func whoWaitsForAChildOfWhatIsClosedIsAnswered() throws {
    var house = House()
    try house.add("parent")
    try house.add("child", parents: ["parent"], site: Self.site)
    house.step(.close(ConnectionID("parent")))
    #expect(house.answered == ["child": .cancelled])
  }
}
