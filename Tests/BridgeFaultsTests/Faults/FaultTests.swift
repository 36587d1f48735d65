import BridgeFaults
import BridgeTestKit
import Testing

@Suite("Each fault does what it says", .timeLimit(.minutes(5)))
struct FaultTests {
  @Test func resetReachesTheClientAsAReset() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.reset)
    #expect(await client.receiveToEnd().end == .reset)
    #expect(await bench.proxy.connections.isEmpty)
    try await bench.stop()
  }

  @Test func halfCloseEndsOneDirectionAndTheOtherLivesOn() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.halfClose([.toClient]))
    let received = await client.receiveToEnd()
    #expect(received.end == .finished)
    try await client.send("more")
    try await client.finish()
    let closed = try await bench.proxy.first { $0.kind.isClosed }
    #expect(closed.kind == .closed(toServer: 9, toClient: 5))
    try await bench.stop()
  }

  @Test func freezeHoldsEverythingAndLosesNothing() async throws {
    let bench = try await Bench()
    let frozen = try await bench.connectedClient()
    try await bench.proxy.inject(.freeze())
    try await frozen.send(", world")
    _ = try await bench.connectedClient()
    #expect(await bench.proxy.connections[1]?.toServer == 5)

    try await bench.proxy.heal()
    #expect(await frozen.receive(12).bytes == "hello, world".bytes)
    try await bench.stop()
  }

  @Test func freezeOfOneDirectionLeavesTheOther() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.freeze([.toClient]))
    try await client.send("more")
    try await eventually { await bench.proxy.connections[1]?.toServer == 9 }
    try await client.finish()
    _ = try await bench.proxy.first { $0.kind == .finished(.toServer) }
    #expect(await bench.proxy.connections[1]?.toClient == 5)

    try await bench.proxy.heal()
    #expect(await client.receiveToEnd().bytes == "hellomore".bytes)
    try await bench.stop()
  }

  @Test func freezeForAWhileThawsByItself() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.freeze(for: .milliseconds(5)))
    try await client.send("more")
    #expect(await client.receive(9).bytes == "hellomore".bytes)
    let kinds = await bench.proxy.log.map(\.kind)
    #expect(kinds.contains(.froze(.toClient)) && kinds.contains(.thawed(.toClient)))
    try await bench.stop()
  }

  /// The client's application does not read: what it sends goes on, and the answers wait.
  @Test func anApplicationThatDoesNotReadLosesNothingOnceItDoes() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.notReading(.toClient))
    let message = (0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try await client.send(message)
    try await eventually { await bench.proxy.connections[1]?.toServer == 5 + message.count }
    #expect(await bench.proxy.connections[1]?.toClient == 5)
    try await bench.proxy.heal()
    #expect(await client.receive(5 + message.count).bytes == "hello".bytes + message)
    try await bench.stop()
  }

  @Test func anApplicationThatDoesNotReadForAWhileReadsAgain() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.notReading(for: .milliseconds(20)))
    try await client.send(", world")
    #expect(await client.receive(12).bytes == "hello, world".bytes)
    let kinds = await bench.proxy.log.map(\.kind)
    #expect(kinds.contains(.froze(.toServer)) && kinds.contains(.thawed(.toServer)))
    #expect(!kinds.contains(.froze(.toClient)))
    try await bench.stop()
  }

  @Test func aFrozenLinkDoesNotRevealThatAnEndIsGone() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.freeze())
    await client.close()
    _ = try await bench.connectedClient()
    #expect(await bench.proxy.connections.keys.sorted() == [1, 2])
    try await bench.stop()
  }

  @Test func aFrozenLinkLearnsOfAResetOnlyWhenItThaws() async throws {
    let peer = try await ScriptedTCPPeer([.read(5), .wait(.milliseconds(1)), .reset])
    let echo = try await EchoServer()
    let proxy = try await FaultProxy(to: peer.port)
    let client = try await LoopbackClient(port: proxy.port)
    try await client.send("1234")
    try await eventually { await peer.received.first?.count == 4 }
    try await proxy.inject(.freeze([.toClient]))
    try await client.send("5")
    _ = try await peer.first { $0.kind == .closed }
    try await roundTrips(5, past: echo.port)
    try await proxy.heal()
    #expect(await client.receiveToEnd().end == .reset)
    let kinds = await proxy.log.map(\.kind)
    let thawed = kinds.firstIndex(of: .thawed(.toClient))
    let lost = kinds.firstIndex(of: .lost(.toClient))
    #expect(thawed != nil && lost != nil && thawed ?? 0 < lost ?? 0)
    await proxy.stop()
    await peer.stop()
    try await echo.stop()
  }

  @Test func sliceWritesEveryByteAlone() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.slice(1, [.toServer]))
    let client = try await LoopbackClient(port: bench.proxy.port)
    try await client.send([UInt8](repeating: 7, count: 3_000))
    #expect(await client.receive(3_000).bytes.count == 3_000)
    #expect(await bench.proxy.connections[1]?.writesToServer == 3_000)
    try await bench.stop()
  }

  @Test func bandwidthCutsTheStreamIntoTimedPieces() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.bandwidth(20_000, [.toServer]))
    let client = try await LoopbackClient(port: bench.proxy.port)
    try await client.send([UInt8](repeating: 7, count: 1_000))
    #expect(await client.receive(1_000).bytes.count == 1_000)
    #expect(await bench.proxy.connections[1]?.writesToServer == 5)
    try await bench.stop()
  }

  @Test func latencyKeepsTheOrderOfTheStream() async throws {
    let bench = try await Bench(seed: 11)
    try await bench.proxy.inject(.latency(.milliseconds(2), jitter: .milliseconds(2)))
    let client = try await LoopbackClient(port: bench.proxy.port)
    for word in ["one ", "two ", "three"] { try await client.send(word) }
    try await client.finish()
    #expect(await client.receiveToEnd().bytes == "one two three".bytes)
    try await bench.stop()
  }

  @Test(arguments: [Portion.Ending.reset, .finish])
  func cutEndsTheNextConnectionAfterSoManyBytes(ending: Portion.Ending) async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.cut(after: 3, by: ending))
    let client = try await LoopbackClient(port: bench.proxy.port)
    try await client.send("hello")
    let received = await client.receiveToEnd()
    #expect(received.bytes == "hel".bytes)
    #expect(received.end == (ending == .reset ? .reset : .finished))
    #expect(await bench.proxy.log.contains { $0.kind == .altered(.toClient, "cut") })

    _ = try await bench.connectedClient()
    try await bench.stop()
  }

  @Test func corruptAltersOneByteTheSameForTheSameSeed() async throws {
    var results: [[UInt8]] = []
    for _ in 0..<2 {
      let bench = try await Bench(seed: 5)
      try await bench.proxy.inject(.corrupt(at: 1))
      let client = try await LoopbackClient(port: bench.proxy.port)
      try await client.send("hello")
      results.append(await client.receive(5).bytes)
      try await bench.stop()
    }
    let altered = zip(results[0], "hello".bytes).map { $0 != $1 }
    #expect(altered == [false, true, false, false, false])
    #expect(results[0] == results[1])
  }

  @Test func refuseClosesTheDoorAndLeavesThoseInside() async throws {
    let bench = try await Bench()
    let inside = try await bench.connectedClient()
    try await bench.proxy.inject(.refuse())
    await #expect(throws: (any Error).self) { try await LoopbackClient(port: bench.proxy.port) }
    try await inside.send("more")
    #expect(await inside.receive(9).bytes.count == 9)

    try await bench.proxy.heal()
    _ = try await bench.connectedClient()
    try await bench.stop()
  }

  @Test func refuseForAWhileListensAgainByItself() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.refuse(for: .milliseconds(5)))
    let refusing = try await bench.proxy.first { $0.kind == .refusing }
    _ = try await bench.proxy.first { $0.kind == .listening && $0.at > refusing.at }
    _ = try await bench.connectedClient()
    try await bench.stop()
  }

  @Test func silenceAcceptsAndNeverAnswers() async throws {
    let bench = try await Bench()
    let before = try await bench.connectedClient()
    try await bench.proxy.inject(.silence())
    let ignored = try await LoopbackClient(port: bench.proxy.port)
    try await ignored.send("anybody?")
    try await before.send("more")
    #expect(await before.receive(9).bytes.count == 9)
    let ofIgnored = await bench.proxy.log.filter { $0.connection == 2 }.map(\.kind)
    #expect(ofIgnored == [.accepted(.ignore)])
    #expect(await bench.proxy.connections[2] != nil)
    try await bench.stop()
  }

  @Test func whoGivesUpOnSilenceIsForgottenOnceItIsOver() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.silence())
    let clients = [
      try await LoopbackClient(port: bench.proxy.port),
      try await LoopbackClient(port: bench.proxy.port),
    ]
    await clients[0].close()
    try await roundTrips(5, past: bench.echo.port)
    #expect(await bench.proxy.connections.keys.sorted() == [1, 2])

    try await bench.proxy.heal()
    try await eventually { await bench.proxy.connections.keys.sorted() == [2] }
    await clients[1].close()
    try await eventually { await bench.proxy.connections.isEmpty }
    try await bench.stop()
  }

  @Test func partitionFreezesTheOldAndHoldsTheNew() async throws {
    let bench = try await Bench()
    let old = try await bench.connectedClient()
    try await bench.proxy.inject(.partition())
    try await old.send("lost")
    let new = try await LoopbackClient(port: bench.proxy.port)
    try await new.send("held")
    _ = try await bench.proxy.first { $0.kind == .accepted(.hold) }
    try await roundTrips(5, past: bench.echo.port)
    try await bench.proxy.inject(Reunion())
    #expect(await new.receive(4).bytes == "held".bytes)
    let kinds = await bench.proxy.log.filter { $0.connection != 1 }.map(\.kind)
    #expect(kinds.suffix(3) == [.accepted(.hold), .injected("Reunion()"), .connected])
    #expect(await bench.proxy.connections[1]?.toServer == 5)
    try await bench.stop()
  }

  @Test func partitionForAWhileEndsByItself() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.partition(for: .milliseconds(5)))
    _ = try await bench.connectedClient()
    try await bench.stop()
  }

  @Test func flapGoesDownAndUpAsOftenAsAsked() async throws {
    let bench = try await Bench()
    let client = try await bench.connectedClient()
    try await bench.proxy.inject(.flap(times: 2, down: .milliseconds(3), up: .milliseconds(3)))
    #expect(await client.receiveToEnd().end == .reset)
    let kinds: [FaultEvent.Kind] = [.listening, .refusing, .listening, .refusing, .listening]
    try await eventually { await admissions(bench).count == kinds.count }
    #expect(await admissions(bench) == kinds)
    try await bench.stop()
  }

  @Test func healTakesBackWhatIsStillToCome() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.flap(times: 99, down: .milliseconds(1), up: .milliseconds(1)))
    try await bench.proxy.heal()
    let count = await admissions(bench).count
    for _ in 0..<5 { _ = try await bench.connectedClient() }
    #expect(await admissions(bench).count == count)
    try await bench.stop()
  }

  /// Gives whatever should not happen the time to happen.
  private func roundTrips(_ count: Int, past port: Int) async throws {
    for _ in 0..<count {
      let client = try await LoopbackClient(port: port)
      try await client.send("tick")
      _ = await client.receive(4)
      await client.close()
    }
  }

  private func admissions(_ bench: Bench) async -> [FaultEvent.Kind] {
    await bench.proxy.log.map(\.kind).filter { $0 == .refusing || $0 == .listening }
  }
}

/// The end of a partition, as a fault of one's own: the held connections go on.
private struct Reunion: Fault {
  var steps: [FaultStep] { [.admit(.forward)] }
}
