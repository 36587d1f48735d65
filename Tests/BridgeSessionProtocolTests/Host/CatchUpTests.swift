import Testing

@testable import BridgeSessionProtocol

/// A terminal far behind is sent the screen in place of what it missed.
@Suite struct CatchUpTests: HostTests {
  private static let mebibyte = 1 << 20

  private func host(
    kind: ProgramKind = .terminal, catchesUp: Bool = true, role: Role = .writer
  ) throws -> HostSession {
    var host = HostSession(.init(session: Sample.session, epoch: Sample.epoch, kind: kind))
    var hello = Hello(session: Sample.session, client: Sample.client)
    hello.catchesUp = catchesUp
    hello.role = role
    _ = try attach(&host, 1, .hello(hello))
    return host
  }

  /// Sends what may be sent; the end of it.
  private func fill(_ host: inout HostSession, at now: Milliseconds) -> UInt64 {
    var end: UInt64 = 0
    while case .bytes(let from, let count) = host.nextOutput(for: 1, limit: 32 << 10) {
      end = from + UInt64(count)
    }
    host.followPace(of: 1, at: now)
    return end
  }

  private func key(_ host: inout HostSession, at now: Milliseconds) {
    _ = host.receive(.input(offset: host.inputAccepted, bytes: [3]), from: 1, at: now)
  }

  /// 1 MiB is printed, and the first 128 KiB were taken in 640 ms: 200 KiB a second.
  private func slowHost(
    kind: ProgramKind = .terminal, catchesUp: Bool = true
  ) throws -> HostSession {
    var host = try host(kind: kind, catchesUp: catchesUp)
    host.produced(Self.mebibyte, at: 0)
    let sent = fill(&host, at: 0)
    _ = host.receive(.acknowledge(through: min(sent, 128 << 10), settled: 0), from: 1, at: 640)
    return host
  }

  @Test func aKeyOnASlowLinkBringsTheScreen() throws {
    var host = try slowHost()
    #expect(host.excess(for: 1) == nil, "nothing was typed")
    key(&host, at: 650)
    let range = try #require(host.excess(for: 1))
    #expect(range == 128 << 10..<UInt64(Self.mebibyte))
    host.omit(range, for: 1)
    #expect(host.excess(for: 1) == nil)
    #expect(host.nextOutput(for: 1, limit: 100) == .nothing)
    host.produced(10, at: 660)
    #expect(host.nextOutput(for: 1, limit: 100) == .bytes(from: UInt64(Self.mebibyte), count: 10))
  }

  @Test func aKeyBringsItOnce() throws {
    var host = try slowHost()
    key(&host, at: 650)
    host.omit(try #require(host.excess(for: 1)), for: 1)
    host.produced(Self.mebibyte / 2, at: 700)
    #expect(host.excess(for: 1) == nil)
  }

  @Test func whoHasAllWaitsForNothing() throws {
    var host = try slowHost()
    var now: Milliseconds = 650
    while host.hasOutput(for: 1) {
      let sent = fill(&host, at: now)
      now += 640
      _ = host.receive(.acknowledge(through: sent, settled: 0), from: 1, at: now)
    }
    key(&host, at: now)
    host.produced(100, at: now)
    _ = fill(&host, at: now)
    host.produced(Self.mebibyte, at: now)
    #expect(host.excess(for: 1) == nil, "the key was answered")
    key(&host, at: now)
    #expect(host.excess(for: 1) != nil)
  }

  @Test func aFastLinkIsSentAll() throws {
    var host = try host()
    host.produced(Self.mebibyte, at: 0)
    var now: Milliseconds = 0
    while host.hasOutput(for: 1) {
      key(&host, at: now)
      #expect(host.excess(for: 1) == nil)
      let sent = fill(&host, at: now)
      now += 10
      _ = host.receive(.acknowledge(through: sent, settled: 0), from: 1, at: now)
    }
    #expect(now < 100)
  }

  @Test(arguments: [(ProgramKind.pipes, true), (.terminal, false)])
  func onPipesAndUnaskedAllIsSent(kind: ProgramKind, catchesUp: Bool) throws {
    var host = try slowHost(kind: kind, catchesUp: catchesUp)
    host.produced(8 * Self.mebibyte, at: 650)
    key(&host, at: 650)
    #expect(host.excess(for: 1) == nil)
  }

  /// While its reader stood still the program went on.
  @Test(arguments: [Role.writer, .viewer])
  func whatWasFarAwayGetsTheScreen(role: Role) throws {
    var host = try host(role: role)
    host.produced(3 * Self.mebibyte, at: 0)
    #expect(host.excess(for: 1) == 0..<UInt64(3 * Self.mebibyte))
  }

  @Test func whereThereIsNoScreenAllIsSent() throws {
    var host = try host()
    host.produced(3 * Self.mebibyte, at: 0)
    #expect(host.excess(for: 1) != nil)
    host.sendAll(to: 1)
    #expect(host.excess(for: 1) == nil)
    #expect(fill(&host, at: 0) == Limits.window)
  }

  /// What is left out is not under way: neither the program nor its output waits for it.
  @Test func whatIsLeftOutHoldsNothingBack() throws {
    var host = try slowHost()
    #expect(host.readPermission(at: 650) == .read)
    host.produced(128 << 10, at: 650)
    #expect(host.readPermission(at: 650) != .read)
    key(&host, at: 650)
    host.omit(try #require(host.excess(for: 1)), for: 1)
    #expect(host.readPermission(at: 650) == .read)
    host.produced(Self.mebibyte, at: 660)
    #expect(host.readPermission(at: 660) != .read)
    let sent = fill(&host, at: 660)
    #expect(sent - (host.newest - UInt64(Self.mebibyte)) == 163_840, "0.8 s of the link")
    let effects = host.receive(.acknowledge(through: host.newest, settled: 0), from: 1, at: 700)
    #expect(violation(effects) != nil, "more than was sent")
  }

  /// The link breaks behind the key: what is known of it and of the key outlives the attachment.
  @Test func aKeyBeforeAnOutageBringsTheScreenBehindIt() throws {
    var host = try slowHost()
    key(&host, at: 650)
    host.disconnect(1)
    var hello = Hello(session: Sample.session, client: Sample.client)
    hello.catchesUp = true
    hello.resume = ResumePoint(epoch: Sample.epoch, received: 128 << 10)
    hello.acknowledged = 128 << 10
    _ = try attach(&host, 2, .hello(hello))
    #expect(host.excess(for: 2) == 128 << 10..<UInt64(Self.mebibyte))
  }

  /// A program that waits for an answer of the terminal prints no more.
  @Test func queriesSinceTheAttachmentAreToBeAnswered() throws {
    var host = try slowHost()
    let all = 0..<host.newest
    #expect(host.unanswered(of: all, for: 1) == host.newest - (64 << 10)..<host.newest)
    #expect(host.unanswered(of: 0..<10, for: 1) == 0..<10)
    host.disconnect(1)
    var hello = Hello(session: Sample.session, client: Sample.client)
    hello.catchesUp = true
    _ = try attach(&host, 2, .hello(hello))
    #expect(host.unanswered(of: all, for: 2) == nil, "nothing old is answered")
    hello.client = Sample.other
    hello.role = .viewer
    _ = try attach(&host, 3, .hello(hello))
    host.produced(10, at: 700)
    #expect(host.unanswered(of: 0..<host.newest, for: 3) == nil, "a viewer answers nothing")
  }

  @Test(arguments: ["\u{3}", "q", "ls\r", "\u{1B}", "\u{1B}[A", "\u{1B}OP", "\u{1B}x"])
  func whatAPersonTypes(text: String) { #expect(TypedKeys.mayBe(Array(text.utf8))) }

  @Test(arguments: [
    "\u{1B}[24;80R", "\u{1B}[?62;22c", "\u{1B}[0n", "\u{1B}[?2004;1$y", "\u{1B}[8;24;80t",
    "\u{1B}]11;rgb:0/0/0\u{7}", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_Gi=1;OK\u{1B}\\",
    "**\u{18}B0100000023be50\r", "",
  ])
  func whatATerminalSends(text: String) { #expect(!TypedKeys.mayBe(Array(text.utf8))) }

  /// A client that acknowledges nothing has no end of drawings made for it.
  @Test func withoutAcknowledgementsThereIsAnEnd() throws {
    var host = try host()
    var count = 0
    while count < 100 {
      host.produced(2 * Self.mebibyte, at: 0)
      guard let range = host.excess(for: 1) else { break }
      host.omit(range, for: 1)
      count += 1
    }
    #expect(count == 16)
  }
}

/// How much is under way on links of all kinds: enough to fill them, and no more than a moment's.
@Suite struct SendingPaceTests {
  struct Link: Sendable {
    /// Bytes in a second.
    var rate: Int
    /// Milliseconds there and back.
    var roundTrip: Int
    /// Seconds that what is under way may take, at most, once the rate is known.
    var delay: Double
  }

  private static let links = [
    Link(rate: 200_000, roundTrip: 20, delay: 0.85),
    Link(rate: 200_000, roundTrip: 100, delay: 0.9),
    Link(rate: 1_000_000, roundTrip: 100, delay: 0.7),
    Link(rate: 20_000_000, roundTrip: 100, delay: 0.3),
    Link(rate: 1_000_000, roundTrip: 600, delay: 1.3),
  ]

  @Test(arguments: links)
  func itFillsTheLinkAndNoMore(link: Link) {
    var pace = SendingPace()
    var (sent, arrived, taken) = (0, 0, 0)
    // What is on its way back, by the time it arrives.
    var acknowledgements: [(at: Int, taken: Int)] = []
    var half = 0
    for now in 0..<20_000 {
      while let next = acknowledgements.first, next.at <= now {
        taken = next.taken
        acknowledgements.removeFirst()
        pace.acknowledged(UInt64(taken), at: Milliseconds(now))
      }
      sent = max(sent, taken + Int(pace.window(of: Limits.window)))
      pace.sent(
        taken: UInt64(taken), end: UInt64(sent), isLimited: true, at: Milliseconds(now))
      let before = arrived
      arrived = min(sent, arrived + link.rate / 1000)
      if arrived / (64 << 10) > before / (64 << 10) || arrived == sent, arrived > before {
        acknowledgements.append((now + link.roundTrip, arrived))
      }
      if now == 10_000 { half = arrived }
      if now > 10_000 {
        #expect(Double(sent - arrived) / Double(link.rate) <= link.delay)
        if Double(sent - arrived) / Double(link.rate) > link.delay { return }
      }
    }
    let most = min(link.rate * 10, 10_000 / link.roundTrip * Int(Limits.window))
    #expect(Double(arrived - half) >= 0.85 * Double(most))
  }

  @Test func aProgramThatPrintsLittleSaysNothingAboutTheLink() {
    var pace = SendingPace()
    pace.sent(taken: 0, end: 100_000, isLimited: true, at: 0)
    pace.acknowledged(100_000, at: 10)
    let rate = pace.rate
    #expect(rate == 10_000_000)
    pace.sent(taken: 100_000, end: 100_010, isLimited: false, at: 20)
    pace.acknowledged(100_010, at: 220)
    #expect(pace.rate == rate)
  }
}
