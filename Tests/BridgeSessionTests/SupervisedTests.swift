import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeSupervision
import BridgeTransport
import Testing

@Suite("A session is a child of a supervised link") struct SupervisedTests {
  /// The supervisor dials; the session only takes what it is given.
  private func supervise(
    _ server: SessionServer, at port: Int, links: SessionLinks<SSHConnection>
  ) async throws -> Supervisor<ContinuousClock> {
    let supervisor = Supervisor(clock: ContinuousClock())
    let endpoint = Endpoint(host: "127.0.0.1", port: port)
    let configuration = server.configuration
    try await supervisor.add(
      ConnectionID("ssh"), to: endpoint,
      onGeneration: { (connection: SSHConnection, generation) in
        await links.use(connection, generation: generation)
      },
      make: { SSHConnection(to: $0, configuration: configuration) })
    return supervisor
  }

  private func session(
    _ server: SessionServer, _ spec: SessionSpec, _ links: SessionLinks<SSHConnection>
  ) -> DurableSession {
    var configuration = DurableSession.Configuration(
      host: "127.0.0.1", starting: spec, client: .fresh())
    configuration.program = SessionServer.program
    return links.session(configuration)
  }

  @Test func itIsSuspendedWithItsLinkAndAttachedAgainWithTheNext() async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port)
      let links = SessionLinks<SSHConnection>()
      let supervisor = try await supervise(server, at: proxy.port, links: links)
      let session = session(
        server, server.spec("while read line; do echo \"$line\"; done; exit 3"), links)
      _ = try await session.attach()
      var expected: [UInt8] = []
      var seen: [UInt8] = []
      let iterator = session.output.makeAsyncIterator()
      for number in 1...5 {
        // The link is gone while the line is on its way.
        async let written = session.write(Array("line \(number)\n".utf8))
        try await proxy.inject(.reset)
        _ = try await written
        expected += Array("line \(number)\n".utf8)
        while seen.count < expected.count, let chunk = try await iterator.next() {
          if case .bytes(let bytes, _) = chunk.content { seen += bytes }
          await session.commit(through: chunk.end)
        }
        #expect(seen == expected)
      }
      try await session.endInput()
      #expect(try await session.exitStatus() == .exited(status: 3))
      await session.close()
      await supervisor.shutDown()
      await proxy.stop()
    }
  }

  /// A session whose links the test makes.
  private func unattached(
    on links: SessionLinks<some Connection & ByteChannelSource>
  ) -> DurableSession {
    links.session(.init(host: "build", attachment: .init(session: .fresh(), client: .fresh())))
  }

  @Test func whatTheSupervisorGivesUpWithEndsIt() async throws {
    let links = SessionLinks<SSHConnection>()
    let session = unattached(on: links)
    async let attached = failure { try await session.attach() }
    await links.fail(.sshHostKeyMismatch(host: "build"))
    #expect(await attached == .sshHostKeyMismatch(host: "build"))
    #expect(await failure { try await session.exitStatus() } == .sshHostKeyMismatch(host: "build"))
  }

  @Test func leavingWhileThereIsNoLinkWaitsForNone() async throws {
    let links = SessionLinks<SSHConnection>()
    let session = unattached(on: links)
    async let attached = failure { try await session.attach() }
    await session.detach()
    #expect(await attached == .cancelled)
  }

  /// An account may be short of processes for a moment; what it is refused first is not allowed.
  @Test func aSessionThatWasAttachedWaitsForAHostThatRefuses() async throws {
    let links = SessionLinks<RefusingLink>(refusalPauses: [.zero, .zero])
    let link = RefusingLink()
    await links.use(link, generation: 1)
    _ = try await links.channel(running: "a")
    await link.refuse(1)
    #expect(await failure { try await links.channel(running: "b") } == RefusingLink.refusal)
    await link.refuse(2)
    _ = try await links.channel(running: "c", isAgain: true)
    await link.refuse(3)
    let error = await failure { try await links.channel(running: "d", isAgain: true) }
    #expect(error == RefusingLink.refusal)
  }

  /// The link is lost, and the host refuses the session twice on the next.
  @Test func theSecondChannelOfASessionIsWaitedFor() async throws {
    let links = SessionLinks<RefusingLink>(refusalPauses: [.zero, .zero])
    let link = RefusingLink()
    await links.use(link, generation: 1)
    await link.refuse(2, after: 1)
    let session = unattached(on: links)
    async let ending = {
      let error = await failure { try await session.attach() }
      link.sink.finish()
      return error
    }()
    var channels = link.channels.makeAsyncIterator()
    await channels.next()?.hangUp()
    #expect(await channels.next() != nil)
    await session.detach()
    #expect(await ending == .cancelled)
  }
}

/// A link whose host opens channels but for so many.
private actor RefusingLink: Connection, ByteChannelSource {
  static let refusal = AppError.sshConnectionFailed(
    host: "build", reason: "The server refused to run the command.")

  nonisolated let endpoint = Endpoint(host: "build", port: 22)
  nonisolated var events: AsyncStream<ConnectionEvent> { AsyncStream { $0.finish() } }
  var lastFailure: FailureContext? { nil }
  var lastHeard: ContinuousClock.Instant? { nil }
  var traffic: TrafficState { TrafficState() }
  /// Those that were opened.
  nonisolated let channels: AsyncStream<ScriptedChannel>
  nonisolated let sink: AsyncStream<ScriptedChannel>.Continuation
  private var refusals = 0..<0

  init() { (channels, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8)) }

  /// Refuses so many, behind so many that are opened.
  func refuse(_ count: Int, after opened: Int = 0) { refusals = opened..<opened + count }

  func channel(running command: String) async throws(AppError) -> any ByteChannel {
    defer { refusals = max(0, refusals.lowerBound - 1)..<max(0, refusals.upperBound - 1) }
    guard !refusals.contains(0) else { throw Self.refusal }
    let channel = ScriptedChannel(command, ending: .lost(.sshTimeout(seconds: 1)))
    sink.yield(channel)
    return channel
  }

  nonisolated func open() async throws(ConnectionError) {}
  nonisolated func probe(within deadline: Duration) async throws(AppError) -> Duration { .zero }
  nonisolated func close() async {}
  nonisolated func timeout(in phase: ConnectionPhase, after limit: Duration) -> ConnectionError {
    ConnectionError(.sshTimeout(seconds: limit.wholeSeconds))
  }
}
