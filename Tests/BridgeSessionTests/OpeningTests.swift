import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import BridgeTransport
import Testing

/// What starts a program is sent to a bridge-host that has answered, and to nothing else.
@Suite(.timeLimit(.minutes(5))) struct OpeningTests {
  private static let spec = SessionSpec(session: ScriptedHost.id)

  private static func session(
    _ host: ScriptedHost, _ clock: ManualClock = ManualClock()
  ) -> DurableSession {
    var configuration = host.configuration
    configuration.start = spec
    configuration.answerLimit = .seconds(10)
    configuration.unheard = UnheardLinks()
    return DurableSession(configuration, clock: clock) { command, last throws(AppError) in
      try await host.next(command, last)
    }
  }

  /// The clock stands still: the host ends the attachment that the client leaves.
  private static func detach(_ session: DurableSession, _ channel: ScriptedChannel) async throws {
    async let left: Void = session.detach()
    try await channel.waitForFrame { $0.type == .control }
    channel.hangUp()
    await left
  }

  private static let endings: [ByteChannelEnding] = [
    .finished(status: 0), .finished(status: 1), .finished(status: 255), .finished(status: nil),
  ]

  /// Field devices, audit wrappers and forced commands print what they like, and end as they like:
  /// each of them is asked once.
  @Test(arguments: endings, [false, true])
  func whatIsNotBridgeHostGetsNothingAndIsAskedOnce(
    _ ending: ByteChannelEnding, echoes: Bool
  ) async throws {
    let host = ScriptedHost(ending: ending) { channel in
      let traced = String(decoding: channel.olderMarker, as: UTF8.self)
      channel.send(Array((echoes ? "invalid: \(channel.command) \(traced)\n" : "hi").utf8))
      channel.hangUp()
    }
    let session = Self.session(host)
    let error = await failure { try await session.attach() }
    #expect(error?.caseName == "durableSessionHostUnusable", "\(String(describing: error))")
    #expect(await !session.mayHaveStarted)
    #expect(await host.channels.map(\.sentBytes) == [[]])
  }

  /// A device that ends the connection over the command is not asked on every new one for ever, and
  /// only once where it printed something: that may have been a forced command.
  @Test(arguments: [("", 3), ("Line has invalid autocommand\n", 1)])
  func aHostThatEndsItsLinksWhenItIsAskedIsGivenUpAndGotNothing(
    _ printed: String, _ links: Int
  ) async throws {
    let device = { @Sendable (channel: ScriptedChannel) in
      if !printed.isEmpty { channel.send(Array(printed.utf8)) }
      channel.hangUp()
    }
    let loss = ByteChannelEnding.lost(.sshConnectionFailed(host: "h", reason: "closed"))
    let host = ScriptedHost(ending: loss, device, device, device, device)
    let session = Self.session(host)
    let error = await failure { try await session.attach() }
    #expect(error?.caseName == "durableSessionHostUnusable", "\(String(describing: error))")
    #expect(await session.absence == .lostLinks)
    #expect(await !session.mayHaveStarted)
    #expect(await host.channels.map(\.sentBytes) == Array(repeating: [], count: links))
  }

  /// A caller that knows of bridge-host there decides itself how long it dials.
  @Test func outagesBeforeAnAnswerAreNoReasonToGiveUp() async throws {
    let loss = ByteChannelEnding.lost(.sshConnectionFailed(host: "h", reason: "closed"))
    let outage = { @Sendable (channel: ScriptedChannel) in
      channel.send(Array("Welcome!\n".utf8))
      channel.hangUp()
    }
    let host = ScriptedHost(ending: loss, outage, outage, outage, outage, { $0.greet() })
    let session = host.session()
    _ = try await session.attach()
    let channel = try #require(await host.channels.last)
    #expect(await host.channels.count == 5)
    try await Self.detach(session, channel)
  }

  /// A start-up file that starts another shell, or reads standard input.
  @Test func aHostThatNeverAnswersIsGivenUpAndGotNothing() async throws {
    let clock = ManualClock()
    let host = ScriptedHost { channel in channel.send(Array("Welcome!\n$ ".utf8)) }
    let session = Self.session(host, clock)
    async let error = failure { try await session.attach() }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(10))
    #expect(await error?.caseName == "durableSessionHostUnusable")
    #expect(await !session.mayHaveStarted)
    #expect(await session.absence == .silence)
    #expect(await host.channels.map(\.sentBytes) == [[]])
  }

  @Test func whatStartsTheProgramFollowsTheGreetingAtOnce() async throws {
    let host = ScriptedHost { channel in
      channel.send(Array("Welcome!\n".utf8) + channel.marker)
    }
    let session = Self.session(host)
    async let welcome = session.attach()
    var channels = host.made.makeAsyncIterator()
    let channel = try #require(await channels.next())
    try await channel.waitForFrame { $0.type == .hello }
    #expect(try channel.sent().map(\.type) == [.start, .hello])
    #expect(await session.mayHaveStarted)
    channel.send(ScriptedHost.welcome())
    _ = try await welcome
    try await Self.detach(session, channel)
  }

  /// The same program is there as before the link was lost.
  @Test func aLaterAttachmentSendsItsHelloAtOnce() async throws {
    let host = ScriptedHost({ $0.greet() }, { _ in }, { $0.hangUp() })
    let session = Self.session(host)
    _ = try await session.attach()
    var channels = host.made.makeAsyncIterator()
    try #require(await channels.next()).hangUp()
    let channel = try #require(await channels.next())
    try await channel.waitForFrame { $0.type == .hello }
    #expect(try channel.sent().map(\.type) == [.hello])
    channel.hangUp()
    // A status is the word of another program, which may have read the hello once.
    let error = await failure { _ = try await session.exitStatus() }
    #expect(error?.caseName == "durableSessionHostUnusable", "\(String(describing: error))")
  }

  /// A start-up file reads a line of the input, and the rest is no hello.
  @Test func aHelloThatDidNotArriveWholeIsSentAgainAfterTheGreeting() async throws {
    let host = ScriptedHost({ $0.greet() }, { _ in }, { _ in })
    let session = Self.session(host)
    _ = try await session.attach()
    var channels = host.made.makeAsyncIterator()
    try #require(await channels.next()).hangUp()
    let second = try #require(await channels.next())
    try await second.waitForFrame { $0.type == .hello }
    second.greetRefusing(.violation)
    second.hangUp()
    let third = try #require(await channels.next())
    #expect(third.sentBytes.isEmpty)
    third.greet { $0.resume = 0 }
    try await third.waitForFrame { $0.type == .hello }
    try await Self.detach(session, third)
  }

  /// It reads all of the hello: the greeting comes, and no answer.
  @Test func aHelloThatNeverArrivedIsSentAgainAfterTheGreeting() async throws {
    let clock = ManualClock()
    let host = ScriptedHost({ $0.greet() }, { _ in }, { $0.greet() })
    let session = Self.session(host, clock)
    _ = try await session.attach()
    var channels = host.made.makeAsyncIterator()
    try #require(await channels.next()).hangUp()
    let second = try #require(await channels.next())
    try await second.waitForFrame { $0.type == .hello }
    second.send(second.marker)
    try await eventually {
      clock.advance(by: .seconds(5))
      return await host.channels.count == 3
    }
    let third = try #require(await channels.next())
    try await third.waitForFrame { $0.type == .hello }
    try await Self.detach(session, third)
  }

  /// One of an earlier version has no greeting: it is recognized by the silence behind its marker.
  @Test func aBridgeHostWithoutAGreetingIsSentTheStartAfterASecond() async throws {
    let clock = ManualClock()
    let host = ScriptedHost { channel in channel.send(channel.olderMarker) }
    let session = Self.session(host, clock)
    async let welcome = session.attach()
    var channels = host.made.makeAsyncIterator()
    let channel = try #require(await channels.next())
    await clock.sleepers(atLeast: 2)
    #expect(channel.sentBytes.isEmpty)
    clock.advance(by: .seconds(1))
    try await channel.waitForFrame { $0.type == .hello }
    channel.send(ScriptedHost.welcome())
    _ = try await welcome
    try await Self.detach(session, channel)
  }

  private static let places = (1...2).map { Identifier(high: 7, low: UInt64($0)) }

  /// A host that answers at one place and then at another; the first link is lost once the start
  /// was sent over it.
  private static func host(
    at first: [Identifier], then second: [Identifier]
  ) -> ScriptedHost {
    let loss = ByteChannelEnding.lost(.sshConnectionFailed(host: "h", reason: "reset"))
    return ScriptedHost(
      ending: loss, { $0.send($0.olderMarker + Greeting(first).bytes) },
      { $0.send($0.olderMarker + Greeting(second).bytes) })
  }

  /// Loses the first link once the start was sent over it; the next one is that of `host`.
  private static func loseStart(_ host: ScriptedHost) async throws -> ScriptedChannel {
    var channels = host.made.makeAsyncIterator()
    let channel = try #require(await channels.next())
    try await channel.waitForFrame { $0.type == .start }
    channel.hangUp()
    return try #require(await channels.next())
  }

  /// Under one name several machines answer, or the home directory is there at one time only.
  @Test func whatWasSentToOnePlaceIsNotSentToAnother() async throws {
    let host = Self.host(at: [Self.places[0]], then: [Self.places[1]])
    let session = Self.session(host)
    async let error = failure { try await session.attach() }
    let other = try await Self.loseStart(host)
    let found = await error
    #expect(found?.caseName == "durableSessionOutcomeUnknown", "\(String(describing: found))")
    #expect(other.sentBytes == [])
  }

  /// Its second directory of sessions is there again, for instance.
  @Test func aPlaceThatKnowsMoreIsTheSame() async throws {
    let host = Self.host(at: [Self.places[0]], then: [Self.places[1], Self.places[0]])
    let session = Self.session(host)
    async let error = failure { try await session.attach() }
    let again = try await Self.loseStart(host)
    try await again.waitForFrame { $0.type == .start }
    again.send(.refused(Refusal(.limit, "enough")))
    again.hangUp()
    #expect(await error?.caseName == "durableSessionFull")
  }

  /// A command that may have run is not run plainly, and the client says that it does not know.
  @Test func aBridgeHostThatEndsBehindTheStartLeavesTheOutcomeUnknown() async throws {
    let host = ScriptedHost(ending: .finished(status: 70)) { channel in
      channel.send(channel.marker)
    }
    let session = Self.session(host)
    async let error = failure { try await session.attach() }
    var channels = host.made.makeAsyncIterator()
    let channel = try #require(await channels.next())
    try await channel.waitForFrame { $0.type == .start }
    channel.hangUp()
    #expect(await error?.caseName == "durableSessionOutcomeUnknown")
    #expect(await session.mayHaveStarted)
  }
}
