import BridgeErrors
import BridgeReactor
import BridgeTransport
import Testing

/// In processes of their own, which have used up their descriptors.
@Suite(.timeLimit(.minutes(1))) struct ShortageTests {
  @Test func withoutDescriptorsEveryDialFailsAndSaysSo() async {
    await #expect(processExitsWith: .success) {
      let listener = try LoopbackListener(at: .loopback)
      defer { withExtendedLifetime(listener) {} }
      await withReactor { reactor in
        Kernel.useUpDescriptors()
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
      let group = ReactorGroup(count: 3)
      let first = group.next()
      Kernel.useUpDescriptors()
      #expect(group.next() === first)
      #expect(group.next() === first)
      await group.stop()
      Kernel.giveDescriptorsBack()
    }
  }
}
