import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct DescriptorWatcherTests {
  @Test func bytesMakeADescriptorReadable() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      let log = Log<[UInt8]>()
      let actor = Pinned(reactor)
      try await actor.watch(pair.near.descriptor, for: .readable) { _, seen in
        #expect(seen == .readable)
        log.append(pair.near.read().bytes)
      }
      pair.far.write([1, 2, 3])
      try await eventually { log.all.count == 1 }
      pair.far.write([4])
      try await eventually { log.all.count == 2 }
      #expect(log.all == [[1, 2, 3], [4]])
      await actor.close()
    }
  }

  @Test func spaceMakesADescriptorWritable() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      pair.near.fill()
      let log = Log<DescriptorWatcher.Readiness>()
      let actor = Pinned(reactor)
      try await actor.watch(pair.near.descriptor, for: .writable) { actor, seen in
        log.append(seen)
        actor.rewatch(for: [])
      }
      await actor.append(1)
      #expect(log.all.isEmpty)
      pair.far.drain()
      try await eventually { !log.all.isEmpty }
      #expect(log.all == [.writable])
      await actor.close()
    }
  }

  @Test func bothDirectionsAreReportedApartAndTogether() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      pair.far.write([1])
      let log = Log<DescriptorWatcher.Readiness>()
      let actor = Pinned(reactor)
      try await actor.watch(pair.near.descriptor, for: [.readable, .writable]) { actor, seen in
        log.append(seen)
        actor.rewatch(for: [])
      }
      try await eventually { !log.all.isEmpty }
      #expect(log.all == [[.readable, .writable]])
      await actor.close()
    }
  }

  @Test func anEndOfFileIsReadable() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      let log = Log<Socket.Transfer>()
      let actor = Pinned(reactor)
      try await actor.watch(pair.near.descriptor, for: .readable) { actor, _ in
        log.append(pair.near.read().result)
        actor.rewatch(for: [])
      }
      pair.far.close()
      try await eventually { !log.all.isEmpty }
      #expect(log.all == [.ended])
      #expect(pair.near.condition == .endOfFile)
      await actor.close()
    }
  }

  /// libuv stops a handle that saw an error. What is watched for again must be reported again.
  @Test func anErrorIsReportedBothWaysAndTheWatchingCanBeginAnew() async throws {
    let listener = try LoopbackListener(at: .loopback)
    defer { withExtendedLifetime(listener) {} }
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
      let near = try await Dialer.dial(endpoint, on: reactor)
      let far = listener.accept()
      let log = Log<DescriptorWatcher.Readiness>()
      let actor = Pinned(reactor)
      try await actor.watch(near.descriptor, for: .readable) { actor, seen in
        log.append(seen)
        if log.all.count == 1 { actor.rewatch(for: .readable) }
        if log.all.count == 2 { actor.rewatch(for: []) }
      }
      far.resetWhenClosed()
      far.close()
      try await eventually { log.all.count == 2 }
      #expect(log.all[0] == [.readable, .writable])
      #expect(near.read().result == .ended)
      #expect(near.condition == .failed(errno: 104))
      await actor.close()
    }
  }

  @Test func nothingIsToldAfterTheClose() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      let log = Log<Int>()
      let actor = Pinned(reactor)
      try await actor.watch(pair.near.descriptor, for: .readable) { _, _ in log.append(1) }
      await actor.run { actor in
        pair.far.write([1])
        actor.close()
        actor.close()
      }
      await actor.append(1)
      #expect(log.all.isEmpty)
    }
  }

  @Test func aWatcherWhoseLastOwnerIsOnAnotherThreadIsClosedOnTheLoop() async throws {
    try await withReactor { reactor in
      let pair = try SocketPair()
      let log = Log<Int>()
      let owner = await Watching(pair.near.descriptor, on: reactor) { log.append(1) }
      _ = consume owner
      await Pinned(reactor).append(1)
      pair.far.write([1])
      await Pinned(reactor).append(1)
      #expect(log.all.isEmpty)
    }
  }

  @Test(arguments: [-1, 1 << 20] as [Int32])
  func whatIsNoOpenDescriptorIsRefused(descriptor: Int32) async {
    await withReactor { reactor in
      await #expect(throws: Refused.self) {
        try await Pinned(reactor).watch(descriptor, for: .readable) { _, _ in }
      }
    }
  }
}

/// Owns a watcher and is dropped by its last owner.
private actor Watching {
  private let reactor: Reactor
  private var watcher: DescriptorWatcher?

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  init(_ descriptor: Int32, on reactor: Reactor, _ ready: @escaping @Sendable () -> Void) async {
    self.reactor = reactor
    watcher = DescriptorWatcher(descriptor, on: reactor) { _ in ready() }
    watcher?.watch(for: .readable)
  }
}
