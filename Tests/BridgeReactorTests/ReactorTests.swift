import BridgeReactor
import BridgeTransport
import Testing

private actor Pinned {
  private let reactor: Reactor
  private(set) var seen: [Int] = []

  init(_ reactor: Reactor) { self.reactor = reactor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.lane }

  func append(_ value: Int) { seen.append(value) }

  func isOnLoop() -> Bool { reactor.isCurrent }
}

@Suite struct ReactorTests {
  @Test func pinnedActorsRunOnTheLoop() async {
    await withReactor { reactor in
      #expect(await Pinned(reactor).isOnLoop())
      #expect(!reactor.isCurrent)
    }
  }

  @Test func jobsOfOneSenderRunInOrder() async {
    await withReactor { reactor in
      let actors = (0..<8).map { _ in Pinned(reactor) }
      await withTaskGroup(of: Void.self) { group in
        for actor in actors {
          group.addTask { for value in 0..<1250 { await actor.append(value) } }
        }
      }
      for actor in actors { #expect(await actor.seen == Array(0..<1250)) }
    }
  }

  @Test func callsOfOneSenderRunInOrder() async {
    await withReactor { reactor in
      let actor = Pinned(reactor)
      for value in 0..<10_000 {
        reactor.execute { actor.assumeIsolated { $0.appendNow(value) } }
      }
      await withCheckedContinuation { done in reactor.execute { done.resume() } }
      #expect(await actor.seen == Array(0..<10_000))
    }
  }
}

extension Pinned {
  fileprivate func appendNow(_ value: Int) { append(value) }
}
