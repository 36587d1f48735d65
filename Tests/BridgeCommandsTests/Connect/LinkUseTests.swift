import BridgeCommands
import Testing

@Suite struct LinkUseTests {
  private let start = ContinuousClock.now
  private let some = LinkUse.Progress(bytes: 1)

  /// A link that is up since `start`.
  private var up: LinkUse {
    var use = LinkUse(atLeast: LinkUse.usefulTime)
    use.begin(at: start)
    return use
  }

  @Test(arguments: [
    (LinkUse.Progress(bytes: 1), Duration.seconds(1), true),
    (LinkUse.Progress(files: 1), .seconds(1), true),
    (LinkUse.Progress(bytes: 1), .milliseconds(999), false),
    (LinkUse.Progress(), .seconds(3600), false),
  ])
  func aLinkIsOfUseThatBroughtSomethingForASecond(
    progress: LinkUse.Progress, time: Duration, wasOfUse: Bool
  ) {
    #expect(up.wasOfUse(progress, at: start + time) == wasOfUse)
  }

  @Test func aLinkThatWasNeverUpIsOfNone() {
    let use = LinkUse(atLeast: .zero)
    #expect(!use.wasOfUse(some, at: start))
  }

  /// A server that is too busy for a dial is not dialed at once because of the link before.
  @Test func whatFollowsADialIsAboutThatDial() {
    var use = up
    use.dialed(some)
    #expect(!use.wasOfUse(some, at: start + .seconds(10)))
    #expect(!use.wasOfUse(LinkUse.Progress(bytes: 2), at: start + .seconds(10)))
  }

  @Test func eachLinkHasToBringSomethingOfItsOwn() {
    var use = up
    use.dialed(some)
    use.begin(at: start + .seconds(10))
    #expect(!use.wasOfUse(some, at: start + .seconds(20)))
    #expect(use.wasOfUse(LinkUse.Progress(bytes: 2), at: start + .seconds(20)))
  }
}
