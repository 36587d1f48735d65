import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Testing

/// In processes of their own, which have used up their descriptors.
@Suite(.timeLimit(.minutes(5))) struct ShortageTests {
  @Test func withoutDescriptorsEveryDialFailsAndSaysSo() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let listener = try LoopbackListener(at: .loopback)
      defer { withExtendedLifetime(listener) {} }
      await withReactor { reactor in
        await Kernel.useUpDescriptors()
        await #expect(
          throws: DialFailure(phase: .dial, cause: .failed(errno: 24), nativeCode: 24)
        ) {
          try await Dialer.dial(Endpoint(host: "127.0.0.1", port: listener.port), on: reactor)
        }
        let error = await #expect(throws: DialFailure.self) {
          try await Dialer.dial(Endpoint(host: "no-such-name.invalid", port: 1), on: reactor)
        }
        #expect(error?.phase == .resolve)
        #expect(error?.cause == .failed(errno: 24))
        Kernel.giveDescriptorsBack()
      }
    }
  }

  @Test func withoutDescriptorsAGroupDoesWithTheReactorsItHas() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let group = ReactorGroup(count: 3)
      let first = group.next()
      await Kernel.useUpDescriptors()
      #expect(group.next() === first)
      #expect(group.next() === first)
      await group.stop()
      Kernel.giveDescriptorsBack()
    }
  }

  /// A library must not end the program that uses it.
  @Test func withoutDescriptorsAReactorRunsJobsAndADialSaysWhy() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      await Kernel.useUpDescriptors()
      let reactor = Reactor()
      let pinned = Pinned(reactor)
      await pinned.append(1)
      #expect(await pinned.isOnLoop())
      #expect(await reactor.onHelperThread { 2 } == 2)
      let error = await #expect(throws: DialFailure.self) {
        try await Dialer.dial(Endpoint(host: "127.0.0.1", port: 1), on: reactor)
      }
      #expect(error?.phase == .resolve)
      #expect(error?.cause == .failed(errno: 24))
      let log = Log<Int>()
      await pinned.after(.seconds(3600)) { log.append(3) }
      try await eventually { log.all == [3] }
      await #expect(throws: Refused.self) { try await pinned.watch(0, for: .readable) { _, _ in } }
      #expect(await pinned.seen == [1])
      await reactor.stop()
      Kernel.giveDescriptorsBack()
    }
  }

  @Test func aReactorMakesItsLoopOnceItCan() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let listener = try LoopbackListener(at: .loopback)
      defer { withExtendedLifetime(listener) {} }
      let endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
      await Kernel.useUpDescriptors()
      let reactor = Reactor()
      let pinned = Pinned(reactor)
      for number in 0..<3 { await pinned.append(number) }
      await #expect(throws: DialFailure.self) { try await Dialer.dial(endpoint, on: reactor) }
      Kernel.giveDescriptorsBack()
      try await Dialer.dial(endpoint, on: reactor).close()
      #expect(await reactor.onHelperThread { 2 } == 2)
      await reactor.stop()
    }
  }

  @Test func aReactorWithoutALoopCanBeStopped() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      await Kernel.useUpDescriptors()
      await Reactor().stop()
      let group = ReactorGroup(count: 2)
      let first = group.next()
      #expect(group.next() === first)
      await group.stop()
      Kernel.giveDescriptorsBack()
    }
  }
}
