import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import BridgeTransport
import Testing

/// The host removes a session when it is asked to: the link may be lost around that.
@Suite("A session that was closed is removed")
struct CloseTests {
  private static let end = Frame.ended(at: 2, .exited(status: 0))

  private static func print(_ channel: ScriptedChannel) {
    channel.greet { $0.newest = 2 }
    channel.send(.output(offset: 0, stream: .standardOutput, bytes: [1, 2]))
    channel.send(end)
  }

  private static func printAgain(_ channel: ScriptedChannel) {
    channel.greet {
      $0.newest = 2
      $0.resume = 2
      $0.hasEnded = true
    }
    channel.send(end)
  }

  private static func closes(_ frame: Frame) -> Bool {
    if case .control(_, .close) = frame { true } else { false }
  }

  /// Reads to the end and commits it.
  private func settle(_ session: DurableSession) async throws {
    #expect(try await drain(session).bytes == [.standardOutput: [1, 2]])
    #expect(try await session.exitStatus() == .exited(status: 0))
    await session.commit(through: 2)
  }

  /// After that there are no more channels to wait for.
  private func close(_ session: DurableSession, on host: ScriptedHost) async {
    await session.close()
    await host.stop()
  }

  @Test func afterTheLinkWasLost() async throws {
    let host = ScriptedHost(
      ending: .lost(.sshTimeout(seconds: 1)),
      { channel in
        Self.print(channel)
        channel.hangUp()
      }, Self.printAgain)
    let session = host.session()
    var channels = host.made.makeAsyncIterator()
    try await settle(session)
    _ = await channels.next()
    async let closed: Void = close(session, on: host)
    let second = try #require(await channels.next())
    try await second.waitForFrame { $0 == .acknowledge(through: 2, settled: 2) }
    try await second.waitForFrame(Self.closes)
    second.hangUp()
    await closed
    #expect(await host.channels.count == 2)
  }

  @Test func whereTheLinkIsLostWithTheRequest() async throws {
    let host = ScriptedHost(
      ending: .lost(.sshTimeout(seconds: 1)), Self.print, Self.printAgain,
      { $0.greetRefusing(.unknownSession) })
    // No time passes, however busy the machine is.
    let session = DurableSession(host.configuration, clock: ManualClock()) {
      command, last throws(AppError) in try await host.next(command, last)
    }
    var channels = host.made.makeAsyncIterator()
    try await settle(session)
    async let closed: Void = close(session, on: host)
    for _ in 0..<2 {
      let channel = try #require(await channels.next())
      try await channel.waitForFrame(Self.closes)
      channel.hangUp()
    }
    await closed
    // The host has no such session any more: it was removed, and its word was lost.
    #expect(await host.channels.count == 3)
    #expect(try await session.exitStatus() == .exited(status: 0))
  }

  @Test func notLongerThanFiveSeconds() async throws {
    let clock = ManualClock()
    let host = ScriptedHost { channel in
      Self.print(channel)
      channel.hangUp()
    }
    let dials = AsyncStream<Void>.makeStream()
    let session = DurableSession(host.configuration, clock: clock) {
      command, last throws(AppError) in
      if last == nil, await host.channels.isEmpty { return try await host.next(command, last) }
      dials.continuation.yield()
      for await _ in AsyncStream<Void>.makeStream().stream {}
      throw .cancelled
    }
    try await settle(session)
    async let closed: Void = session.close()
    for await _ in dials.stream { break }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(5))
    await closed
  }

  /// The link delivers what is sent last: that saves the round trip of an answer.
  @Test func withoutAnAnswerItIsOverOnceItIsSent() async throws {
    let host = ScriptedHost(Self.print)
    // No time passes: a limit would not end it.
    let session = DurableSession(host.configuration, clock: ManualClock()) {
      command, last throws(AppError) in try await host.next(command, last)
    }
    try await settle(session)
    await session.closeWithLink(within: .seconds(5))
    let channel = try #require(await host.channels.first)
    #expect(try channel.sent().contains(where: Self.closes))
    #expect(await host.channels.count == 1)
  }

  /// What could not be sent is sent over the next link, as with an answer.
  @Test func withoutAnAnswerItIsSentAgainWhereTheLinkWasLost() async throws {
    let host = ScriptedHost(
      ending: .lost(.sshTimeout(seconds: 1)),
      {
        Self.print($0)
        $0.hangUp()
      }, Self.printAgain)
    let session = host.session()
    try await settle(session)
    async let closed: Void = session.closeWithLink(within: .seconds(5))
    var channels = host.made.makeAsyncIterator()
    _ = await channels.next()
    let second = try #require(await channels.next())
    try await second.waitForFrame(Self.closes)
    await closed
    #expect(await host.channels.count == 2)
  }

  @Test func butNotByAClientThatWasReplaced() async throws {
    let host = ScriptedHost(
      {
        Self.print($0)
        $0.send(.refused(Refusal(.replaced, "Client x took the session over.")))
        $0.hangUp()
      }, Self.printAgain)
    let session = host.session()
    _ = try await drain(session)
    await session.commit(through: 2)
    await session.close(within: .milliseconds(200))
    #expect(await host.channels.count == 1)
  }

  @Test func onceByTwoCallers() async throws {
    let host = ScriptedHost(
      ending: .lost(.sshTimeout(seconds: 1)),
      {
        Self.print($0)
        $0.hangUp()
      }, { $0.greetRefusing(.unknownSession) }, { $0.greetRefusing(.unknownSession) })
    let session = host.session()
    _ = try await drain(session)
    await session.commit(through: 2)
    async let one: Void = session.close()
    async let two: Void = session.close()
    _ = await (one, two)
    #expect(await host.channels.count == 2)
  }

  /// Cleaning up after a cancellation is a usual reason to detach.
  @Test func detachingInACanceledTaskSendsWhatWasWritten() async throws {
    try await withThrowingTaskGroup(of: [Frame].self) { group in
      for _ in 0..<50 { group.addTask { try await Self.framesOfACanceledDetach() } }
      for try await frames in group {
        #expect(frames.contains { if case .control(_, .detach) = $0 { true } else { false } })
        #expect(frames.contains { $0.type == .input })
      }
    }
  }

  private static func framesOfACanceledDetach() async throws -> [Frame] {
    let host = ScriptedHost { $0.greet() }
    let session = host.session()
    _ = try await session.attach()
    let channel = try #require(await host.channels.first)
    let detaching = Task {
      while !Task.isCancelled { await Task.yield() }
      _ = try? await session.write([UInt8](repeating: 1, count: 500_000))
      await session.detach()
    }
    detaching.cancel()
    await detaching.value
    return try channel.sent()
  }

  @Test func butNotWhatWasNotCommitted() async throws {
    let host = ScriptedHost { channel in
      Self.print(channel)
      channel.hangUp()
    }
    let session = host.session()
    _ = try await drain(session)
    await session.close()
    #expect(await host.channels.count == 1)
  }
}
