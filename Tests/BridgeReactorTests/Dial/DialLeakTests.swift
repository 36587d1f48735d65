import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Testing

/// However a dial ends, nothing stays open. In processes of their own, whose sockets no other test
/// opens or closes meanwhile.
@Suite(.timeLimit(.minutes(5))) struct DialLeakTests {
  /// The way to a host with these addresses.
  private static func route(
    _ addresses: [NetworkAddress], _ port: Int, _ reactor: Reactor
  ) -> Route {
    Route(
      Endpoint(host: "some.example", port: port), on: reactor,
      resolver: Resolver(lookup: ScriptedLookup.answering(addresses)),
      winners: Mutex(WinnerMemory()))
  }

  @Test func afterARefusal() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let closed = try LoopbackListener(at: .loopback, backlog: nil)
      defer { withExtendedLifetime(closed) {} }
      await withReactor { reactor in
        let before = Kernel.sockets()
        let addresses = [NetworkAddress.unroutable, .loopback]
        let error = await #expect(throws: DialFailure.self) {
          try await Self.route(addresses, closed.port, reactor).dial()
        }
        #expect(error?.cause == .failed(errno: 111))
        #expect(Kernel.sockets() == before)
      }
    }
  }

  @Test func afterTheDeadline() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let hole = try BlackHole(at: .loopback)
      defer { withExtendedLifetime(hole) {} }
      await withReactor { reactor in
        let before = Kernel.sockets()
        await #expect(throws: DialFailure(phase: .dial, cause: .deadline)) {
          try await Dialer.dial(
            Endpoint(host: "127.0.0.1", port: hole.port), on: reactor,
            dialTimeout: .milliseconds(50))
        }
        #expect(Kernel.sockets() == before)
      }
    }
  }

  @Test func afterAProbe() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let (hole, listener) = try BlackHole.besideListener()
      defer { withExtendedLifetime((hole, listener)) {} }
      try await withReactor { reactor in
        let before = Kernel.sockets()
        let addresses = [NetworkAddress.loopbackV6, .loopback]
        let winner = try await Self.route(addresses, hole.port, reactor)
          .probe(addresses, within: .seconds(10))
        #expect(winner == .loopback)
        #expect(Kernel.sockets() == before)
      }
    }
  }

  @Test func afterACancellationBetweenThePhases() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let hole = try BlackHole(at: .loopback)
      defer { withExtendedLifetime(hole) {} }
      await withReactor { reactor in
        let before = Kernel.sockets()
        let endpoint = Endpoint(host: "127.0.0.1", port: hole.port)
        let task = Task {
          try await Dialer.dial(endpoint, on: reactor) { phase in
            if phase == .dial { cancelCurrentTask() }
          }
        }
        #expect(await failure(of: task) == DialFailure(phase: .dial, cause: .cancelled))
        #expect(Kernel.sockets() == before)
      }
    }
  }

  @Test func afterACancellationWhileEveryAttemptIsUnderWay() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let (hole, listener) = try BlackHole.besideListener()
      let other = try BlackHole(at: .loopback(11), port: hole.port)
      defer { withExtendedLifetime((hole, listener, other)) {} }
      try await withReactor { reactor in
        let before = Kernel.sockets()
        let route = Self.route([.loopbackV6, .loopback(11)], hole.port, reactor)
        let task = Task { try await route.dial() }
        try await eventually { Kernel.sockets() == before + 2 }
        task.cancel()
        #expect(await failure(of: task) == DialFailure(phase: .dial, cause: .cancelled))
        #expect(Kernel.sockets() == before)
      }
    }
  }

  /// Success and cancellation race for the one right to answer.
  @Test func afterAThousandCancellationsAtAnyTime() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let listener = try LoopbackListener(at: .loopback, backlog: 1024)
      await withReactor { reactor in
        let before = Kernel.sockets()
        await withTaskGroup(of: Void.self) { group in
          for sender in 0..<4 {
            group.addTask {
              for round in 0..<250 {
                let route = Self.route([.loopback], listener.port, reactor)
                let task = Task { try await route.dial() }
                for _ in 0..<((round * 7 + sender) % 40) { await Task.yield() }
                task.cancel()
                let failure = await failure(of: task)
                #expect(failure == nil || failure?.cause == .cancelled, "\(failure as Any)")
                if round.isMultiple(of: 8) { listener.acceptAll() }
              }
            }
          }
        }
        let after = Kernel.sockets()
        #expect(after == before, "\(after) sockets, and \(before) before")
      }
    }
  }
}
