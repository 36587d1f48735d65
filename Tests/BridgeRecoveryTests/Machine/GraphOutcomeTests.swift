import BridgeErrors
import BridgeRecovery
import Testing

/// What becomes of links that depend on others when those end: not in which order, but what is
/// shown, dialed and answered afterwards.
@Suite struct GraphOutcomeTests {
  private static let mismatch = AppError.sshHostKeyMismatch(host: "h")
  private static let site = "child:22"

  /// A parent that is up, and children to another site that have begun their first dial.
  private func bench(_ children: [String], retriesFirstDial: Bool = true) throws -> MachineBench {
    var bench = MachineBench()
    try bench.add("parent")
    bench.connect("parent")
    for child in children {
      try bench.add(
        child, parents: ["parent"], site: Self.site, retriesFirstDial: retriesFirstDial)
    }
    return bench
  }

  /// The parent is lost and comes back a second later.
  private func blink(_ bench: inout MachineBench) {
    bench.fail("parent", 1, .linkLost)
    bench.now += .seconds(1)
    bench.step(.timer(.queue))
    bench.connect("parent", 2)
  }

  @Test func anErrorThatWaitsForAPersonIsShownAfterTheParentHasBlinked() throws {
    var bench = try bench(["child"])
    bench.fail("child", 1, .hostKeyChanged, Self.mismatch)
    #expect(bench.machine.queue.shown?.error == Self.mismatch)
    bench.now += .seconds(60)
    blink(&bench)
    #expect(bench.machine.queue.shown?.error == Self.mismatch)
    #expect(bench.state("child") == .failed(Self.mismatch))
  }

  /// A dial through a tunnel that is reset is not tried again; the tunnel is.
  @Test func whoGaveUpBecauseItsParentDiedIsDialledWithIt() throws {
    var bench = try bench(["child"], retriesFirstDial: false)
    bench.fail("child", 1, .dropped)
    bench.now += .milliseconds(100)
    blink(&bench)
    #expect(bench.dials == ["child#2"])
    bench.connect("child", 2)
    #expect(bench.machine.queue.shown == nil && bench.machine.queue.waiting.isEmpty)
  }

  /// Silence is noticed late: what failed since the parent was last heard failed because of it.
  @Test func whoGaveUpWhileItsParentWasSilentIsDialledWithIt() throws {
    var bench = try bench(["child"], retriesFirstDial: false)
    bench.now += .seconds(8)
    bench.fail("child", 1, .silent, .sshTimeout(seconds: 3))
    bench.now += .seconds(2)
    // Last heard before the child gave up.
    bench.step(.suspected(ConnectionID("parent"), generation: 1, silentFor: .seconds(5)))
    bench.now += .seconds(30)
    blink(&bench)
    let isBack = bench.dials.contains("child#2") || bench.pump(["child"], for: .seconds(5)) == [2]
    #expect(isBack)
  }

  @Test(arguments: [
    (FailureKind.hostKeyChanged, GraphOutcomeTests.mismatch),
    (.authenticationRefused, .sshAuthenticationFailed(method: "publickey")),
  ])
  func noDyingParentExplainsWhatThePeerItselfRefused(kind: FailureKind, error: AppError) throws {
    var bench = try bench(["child"])
    bench.fail("child", 1, kind, error)
    bench.now += .milliseconds(100)
    blink(&bench)
    #expect(bench.dials.isEmpty)
    #expect(bench.state("child") == .failed(error))
    #expect(bench.machine.queue.shown?.error == error)
  }

  @Test func whoGaveUpLongBeforeItsParentEndedStaysWhereItIs() throws {
    var bench = try bench(["child"], retriesFirstDial: false)
    bench.fail("child", 1, .dropped)
    bench.now += .seconds(1)
    blink(&bench)
    #expect(bench.dials.isEmpty)
    guard case .failed = bench.state("child") else {
      Issue.record("\(bench.state("child") as Any)")
      return
    }
    #expect(bench.machine.queue.shown?.source == "child")
  }

  @Test func whoWaitsForAChildLearnsThatItsParentGaveUp() throws {
    var bench = MachineBench()
    try bench.add("parent")
    try bench.add("child", parents: ["parent"], site: Self.site)
    try bench.add("grandchild", parents: ["child"], site: Self.site)
    let refused = AppError.sshAuthenticationFailed(method: "m")
    bench.fail("parent", 1, .authenticationRefused, refused)
    #expect(bench.answered == ["parent": refused, "child": refused, "grandchild": refused])
    for name in ["parent", "child", "grandchild"] {
      #expect(bench.machine.obstacle(to: ConnectionID(name)) == refused)
    }
    bench.step(.reconnectNow(ConnectionID("parent")))
    #expect(bench.machine.obstacle(to: ConnectionID("grandchild")) == nil)
  }

  @Test func whoWaitsForALinkOfAStoppedHostLearnsWhy() throws {
    var bench = MachineBench()
    for name in ["a", "b", "c"] { try bench.add(name) }
    try bench.add("child", parents: ["b"], site: Self.site)
    bench.connect("c")
    bench.fail("b", 1, .dropped)
    bench.fail("a", 1, .hostKeyChanged, Self.mismatch)
    #expect(bench.answered == ["a": Self.mismatch, "b": Self.mismatch, "child": Self.mismatch])
    #expect(bench.machine.obstacle(to: ConnectionID("b")) == Self.mismatch)
    #expect(bench.machine.obstacle(to: ConnectionID("c")) == nil)
    bench.fail("c", 1, .linkLost)
    #expect(bench.answered == ["c": Self.mismatch])
    #expect(bench.machine.obstacle(to: ConnectionID("c")) == Self.mismatch)
    bench.step(.reconnectNow(ConnectionID("a")))
    #expect(bench.machine.obstacle(to: ConnectionID("b")) == nil)
  }

  /// What is dialing when its host is stopped may still be let in; if not, its callers learn why.
  @Test func aDialThatIsUnderWayAtAStoppedHostAnswersWhenItEnds() throws {
    var bench = MachineBench()
    for name in ["a", "b"] { try bench.add(name) }
    bench.fail("a", 1, .hostKeyChanged, Self.mismatch)
    #expect(bench.answered == ["a": Self.mismatch])
    #expect(bench.machine.obstacle(to: ConnectionID("b")) == nil)
    bench.fail("b", 1, .dropped)
    #expect(bench.answered == ["b": Self.mismatch])
  }

  @Test func whoWaitsForAChildOfWhatIsClosedIsAnswered() throws {
    var bench = MachineBench()
    try bench.add("parent")
    try bench.add("child", parents: ["parent"], site: Self.site)
    bench.step(.close(ConnectionID("parent")))
    #expect(bench.answered == ["child": .cancelled])
  }
}
