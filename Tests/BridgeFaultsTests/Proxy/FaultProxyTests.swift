import BridgeFaults
import Testing

/// A client, a proxy and an echo behind it.
struct Bench {
  let echo: EchoServer
  let proxy: FaultProxy

  init(seed: UInt64 = 1) async throws {
    echo = try await EchoServer()
    proxy = try await FaultProxy(to: echo.port, seed: seed)
  }

  /// A client whose first round trip is done.
  func connectedClient() async throws -> LoopbackClient {
    let client = try await LoopbackClient(port: proxy.port)
    try await client.send("hello")
    _ = await client.receive(5)
    return client
  }

  func stop() async throws {
    await proxy.stop()
    try await echo.stop()
  }
}

@Suite("A proxy and its connections", .timeLimit(.minutes(5)))
struct FaultProxyTests {
  @Test func resetsTheClientWithoutAListenerBehindIt() async throws {
    let proxy = try await FaultProxy(to: 1)
    try await proxy.inject(.partition())
    let client = try await LoopbackClient(port: proxy.port)
    try await proxy.heal()
    #expect(await client.receiveToEnd().end == .reset)
    #expect(await proxy.log.contains { $0.kind == .serverUnreachable })
    await proxy.stop()
  }

  @Test func isGoneWhenStopped() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.stop()
    #expect(await client.receiveToEnd().end != nil)
    await #expect(throws: FaultError.stopped) { try await bench.proxy.inject(.reset) }
    await #expect(throws: (any Error).self) { try await LoopbackClient(port: bench.proxy.port) }
  }

  @Test func passesEverythingOnAndCountsIt() async throws {
    let bench = try await Bench()
    let client = try await LoopbackClient(port: bench.proxy.port)
    let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    try await client.send(sent)
    #expect(await client.receive(sent.count).bytes == sent)
    let traffic = await bench.proxy.connections[1]
    #expect(traffic?.toServer == sent.count)
    #expect(traffic?.toClient == sent.count)
    try await bench.stop()
  }

  @Test func passesAFinOnBehindTheBytesBeforeIt() async throws {
    let bench = try await Bench()
    let client = try await LoopbackClient(port: bench.proxy.port)
    try await client.send("last words")
    try await client.finish()
    let received = await client.receiveToEnd()
    #expect(received.bytes == "last words".bytes)
    #expect(received.end == .finished)
    let closed = try await bench.proxy.first { $0.connection == 1 && $0.kind.isClosed }
    #expect(closed.kind == .closed(toServer: 10, toClient: 10))
    try await bench.stop()
  }

  @Test func logsWhatHappensInOrderWithMonotonicTimes() async throws {
    let bench = try await Bench()
    _ = try await bench.connectedClient()
    try await bench.proxy.inject(.reset)
    let log = await bench.proxy.log
    #expect(log.map(\.at) == log.map(\.at).sorted())
    #expect(
      log.map(\.kind) == [
        .listening, .accepted(.forward), .connected, .injected("Reset()"), .reset,
        .closed(toServer: 5, toClient: 5),
      ])
    try await bench.stop()
  }

  @Test func keepsTheNewestEventsOfAShortLogAndCountsTheRest() async throws {
    let proxy = try await FaultProxy(to: 1, logCapacity: 4)
    for _ in 1...5 { try await proxy.inject(.reset) }
    let log = await proxy.log
    #expect(log.count <= 4)
    #expect(log.last?.kind == .injected("Reset()"))
    #expect(await proxy.droppedEvents == 6 - log.count)
    await proxy.stop()
  }
}

extension FaultEvent.Kind {
  var isClosed: Bool { if case .closed = self { true } else { false } }
}
