import BridgeCommands
import Testing

@Suite struct LinkUseTests {
  private let start = ContinuousClock.now
  private let some = LinkUse.Progress(bytes: 1)

  /// A link that is up.
  private var up: LinkUse {
    var use = LinkUse()
    use.begin(at: start)
    return use
  }

  @Test(arguments: [
    (LinkUse.Progress(bytes: 1), Duration.zero), (LinkUse.Progress(files: 1), .zero),
    (LinkUse.Progress(), nil),
  ])
  func aLinkThatBroughtSomethingIsDialedAtOnce(
    progress: LinkUse.Progress, pause: Duration?
  ) {
    var use = up
    #expect(use.pause(progress, at: start) == pause)
  }

  @Test func aLinkThatWasNeverUpIsOfNoUse() {
    var use = LinkUse()
    #expect(use.pause(some, at: start) == nil)
  }

  /// The next connection to a port, or the next key, may come at any time.
  @Test(arguments: [(true, 1000, Duration.zero), (true, 999, nil), (false, 60_000, nil)])
  func aLinkThatServesIsOfUseWhenItIsThereForASecond(
    serves: Bool, milliseconds: Int, pause: Duration?
  ) {
    var use = up
    let now = start + .milliseconds(milliseconds)
    #expect(use.pause(LinkUse.Progress(), serves: serves, at: now) == pause)
  }

  /// A server that is too busy for a dial is not dialed at once because of the link before.
  @Test func whatFollowsADialIsAboutThatDial() {
    var use = up
    use.dialed(some)
    #expect(use.pause(some, at: start) == nil)
    #expect(use.pause(LinkUse.Progress(bytes: 2), at: start) == nil)
  }

  @Test func eachLinkHasToBringSomethingOfItsOwn() {
    var use = up
    use.dialed(some)
    use.begin(at: start)
    #expect(use.pause(some, at: start) == nil)
    #expect(use.pause(LinkUse.Progress(bytes: 2), at: start) == .zero)
  }

  /// How long each of `count` links waited that brought something and lasted so long.
  private func pauses(_ count: Int, lasting time: Duration) -> [Duration] {
    var (use, now) = (LinkUse(), start)
    return (1...count).map { number in
      use.dialed(LinkUse.Progress(bytes: UInt64(number - 1)))
      use.begin(at: now)
      now += time
      let pause = use.pause(LinkUse.Progress(bytes: UInt64(number)), at: now) ?? .seconds(3600)
      now += pause
      return pause
    }
  }

  @Test func aLinkThatLastsLongEnoughNeverWaits() {
    #expect(pauses(1000, lasting: LinkUse.spacing).allSatisfy { $0 == .zero })
  }

  @Test func shorterOnesAreSpacedAfterAWhile() {
    let pauses = pauses(1000, lasting: .milliseconds(10))
    #expect(pauses.prefix(LinkUse.burst).allSatisfy { $0 == .zero })
    #expect(pauses.suffix(500).allSatisfy { $0 == LinkUse.spacing - .milliseconds(10) })
  }
}
