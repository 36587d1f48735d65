import BridgeErrors
import BridgeReactor
import BridgeTransport
import Testing

@Suite struct DialerTests {
  @Test(arguments: ["127.0.0.1", "::1"])
  func aNumericAddressIsDialled(host: String) async throws {
    let address = try #require(NetworkAddress(numeric: host))
    let listener = try LoopbackListener(at: address)
    try await withReactor { reactor in
      let phases = Mutex<[ConnectionPhase]>([])
      let endpoint = Endpoint(host: host, port: listener.port)
      let socket = try await Dialer.dial(endpoint, on: reactor) { phase in
        phases.withLock { $0.append(phase) }
      }
      #expect(socket.descriptor >= 0)
      #expect(socket.condition == .open)
      #expect(phases.withLock { $0 } == [.resolve, .dial])
    }
  }

  @Test func aNameIsDialled() async throws {
    let listener = try LoopbackListener(at: .loopback)
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "localhost", port: listener.port)
      let socket = try await Dialer.dial(endpoint, on: reactor)
      #expect(socket.descriptor >= 0)
    }
  }

  @Test func aPortWithoutListenerIsRefused() async throws {
    let port = try LoopbackListener(at: .loopback).port
    await withReactor { reactor in
      await #expect(
        throws: DialFailure(
          phase: .dial, cause: .failed(errno: 111), nativeCode: 111)
      ) {
        try await Dialer.dial(Endpoint(host: "127.0.0.1", port: port), on: reactor)
      }
    }
  }
}
