import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Testing

/// What an application writes to a session: in order, within a window, and at once if possible.
@Suite("Input of a durable session", .timeLimit(.minutes(1))) struct InputTests {
  /// A writer that the host has greeted.
  private func attached() async throws -> (session: DurableSession, channel: ScriptedChannel) {
    let host = ScriptedHost { $0.greet() }
    let session = host.session()
    _ = try await session.attach()
    return (session, try #require(await host.channels.first))
  }

  @Test func aWriterThatIsFasterThanTheProgramWaits() async throws {
    let (session, channel) = try await attached()
    let size: UInt64 = 3 << 20
    let writing = Task { try await session.write([UInt8](repeating: 7, count: Int(size))) }
    var taken: UInt64 = 0
    while taken < size {
      // Never more than a window beyond what was taken.
      let limit = min(taken + Limits.window, size)
      try await channel.waitForInput(through: limit)
      #expect(try channel.inputEnd() == limit)
      taken = limit
      channel.send(.acknowledge(through: taken, settled: 0))
    }
    #expect(try await writing.value == size)
    try await session.inputTaken(through: size)
    await session.detach()
  }

  @Test func whatIsDeliveredWasTaken() async throws {
    let (session, channel) = try await attached()
    let isDelivered = Mutex(false)
    let delivering = Task {
      let end = try await session.deliver([1, 2, 3])
      isDelivered.withLock { $0 = true }
      return end
    }
    try await channel.waitForInput(through: 3)
    channel.send(.acknowledge(through: 2, settled: 0))
    try await eventually { await session.inputTaken == 2 }
    #expect(!isDelivered.withLock { $0 })
    channel.send(.acknowledge(through: 3, settled: 0))
    #expect(try await delivering.value == 3)
    await session.detach()
  }

  @Test func whatAProgramThatEndedDidNotTakeIsNotDelivered() async throws {
    let (session, channel) = try await attached()
    async let error = failure { try await session.deliver([1, 2, 3]) }
    try await channel.waitForInput(through: 3)
    channel.send(.ended(at: 0, .exited(status: 0)))
    #expect(
      await error
        == .sshConnectionFailed(host: "build", reason: "The program takes no more input."))
    await session.detach()
  }

  /// A key need not wait for another task to run.
  @Test func whatIsWrittenIsSentAtOnceWhereTheChannelTakesIt() async throws {
    let (session, channel) = try await attached()
    channel.takePosts()
    // The sender may be about to wait: then it still sends what comes.
    try await eventually {
      let posts = channel.posts
      let end = try await session.write([1])
      guard channel.posts == posts + 1 else { return false }
      return try channel.inputEnd() == end
    }
    await session.detach()
  }

  @Test func whatIsWrittenBehindAWriteThatWaitsIsSentBehindIt() async throws {
    let (session, channel) = try await attached()
    try await session.write([1])
    try await channel.waitForInput(through: 1)
    channel.holdWrites()
    try await session.write([2])
    try await eventually { channel.holdsWrite }
    channel.takePosts()
    try await session.write([3])
    #expect(try channel.inputEnd() == 1)
    channel.letGo()
    try await channel.waitForInput(through: 3)
    let input = try channel.sent().reduce(into: [UInt8]()) { input, frame in
      if case .input(let offset, let bytes) = frame, offset == input.count { input += bytes }
    }
    #expect(input == [1, 2, 3])
    await session.detach()
  }

  @Test func aViewerWritesNothing() async throws {
    let host = ScriptedHost { $0.greet { $0.role = .viewer } }
    let session = host.session { $0.attachment.role = .viewer }
    #expect(try await session.attach().role == .viewer)
    #expect(await failure { try await session.write([1]) }?.caseName == "validationError")
    #expect(await failure { try await session.signal(.interrupt) }?.caseName == "validationError")
    await session.detach()
  }
}
