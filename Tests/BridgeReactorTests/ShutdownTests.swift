import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Testing

/// In processes of their own, for what they count belongs to the whole process.
@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
  @Test func nothingIsLeftOfReactorsThatWereStopped() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let listener = try LoopbackListener(at: .loopback, backlog: 64)
      defer { withExtendedLifetime(listener) {} }
      let endpoint = Endpoint(host: "localhost", port: listener.port)
      // libuv's pool and signal pipe are the process's and are made once; the pool's threads bear
      // the name of the one that needed them first.
      try await Self.life(of: Reactor(name: "first"), endpoint, listener)
      let before = Kernel.descriptors()
      for _ in 0..<20 {
        try await Self.life(of: Reactor(name: "shutdown-test"), endpoint, listener)
      }
      #expect(Kernel.descriptors() == before)
      try await eventually { Kernel.threads(named: "shutdown-test") == 0 }
    }
  }

  /// Its task would never end, and say nothing.
  @Test func aTaskOnAReactorThatWasStoppedStopsADebugBuild() async {
    await #expect(processExitsWith: .failure) {
      ProcessLimit.begin()
      let reactor = Reactor()
      await reactor.stop()
      await Task(executorPreference: reactor) {}.value
    }
  }

  private static func life(
    of reactor: Reactor, _ endpoint: Endpoint, _ listener: LoopbackListener
  ) async throws {
    let actor = Pinned(reactor)
    let socket = try await Dialer.dial(endpoint, on: reactor)
    let far = listener.accept()
    let log = Log<Int>()
    try await actor.watch(socket.descriptor, for: .readable) { _, _ in log.append(1) }
    await actor.after(.seconds(3600)) {}
    far.write([1])
    try await eventually { !log.all.isEmpty }
    #expect(await reactor.onHelperThread { 7 } == 7)
    await actor.close()
    await reactor.stop()
  }
}
