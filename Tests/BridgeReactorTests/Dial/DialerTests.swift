import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct DialerTests {
  @Test func aPortWithoutListenerIsRefused() async throws {
    let closed = try LoopbackListener(at: .loopback, backlog: nil)
    defer { withExtendedLifetime(closed) {} }
    let port = closed.port
    await withReactor { reactor in
      await #expect(
        throws: DialFailure(phase: .dial, cause: .failed(errno: 111), nativeCode: 111)
      ) {
        try await Dialer.dial(Endpoint(host: "127.0.0.1", port: port), on: reactor)
      }
    }
  }

  @Test(arguments: [0, -1, 65536, Int.max])
  func whatIsNoPortIsAnInvalidArgument(port: Int) async {
    await withReactor { reactor in
      await #expect(
        throws: DialFailure(phase: .dial, cause: .failed(errno: 22), nativeCode: 22)
      ) {
        try await Dialer.dial(Endpoint(host: "127.0.0.1", port: port), on: reactor)
      }
    }
  }

  @Test(arguments: [
    DialSource.address("127.0.0.2"), .address("localhost"), .interface("lo"),
  ])
  func theEndHereIsTheOneThatIsAskedFor(_ source: DialSource) async throws {
    let listener = try LoopbackListener(at: .loopback)
    defer { withExtendedLifetime(listener) {} }
    try await withReactor { reactor in
      let socket = try await Dialer.dial(
        Endpoint(host: "127.0.0.1", port: listener.port), over: nil, from: source, on: reactor,
        resolveTimeout: .seconds(50), dialTimeout: .seconds(50), entered: { _ in })
      let here: [UInt8] = source == .address("127.0.0.2") ? [127, 0, 0, 2] : [127, 0, 0, 1]
      #expect(SocketName.own(of: socket.descriptor)?.address == NetworkAddress(bytes: here))
      socket.close()
    }
  }

  /// Nothing is sent from another address than the one that was asked for.
  @Test(arguments: [
    DialSource.address("192.0.2.1"), .address("::1"), .address("nowhere.invalid"),
    .interface("none0"),
  ])
  func anEndThatThisMachineHasNotIsNoDial(_ source: DialSource) async throws {
    let listener = try LoopbackListener(at: .loopback)
    defer { withExtendedLifetime(listener) {} }
    await withReactor { reactor in
      await #expect(
        throws: DialFailure(phase: .dial, cause: .failed(errno: ENODEV), nativeCode: Int(ENODEV))
      ) {
        try await Dialer.dial(
          Endpoint(host: "127.0.0.1", port: listener.port), over: nil, from: source, on: reactor,
          resolveTimeout: .seconds(50), dialTimeout: .seconds(50), entered: { _ in })
      }
    }
  }

  @Test func anAddressThatNeverAnswersIsGivenUpAtTheDeadline() async throws {
    let hole = try BlackHole(at: .loopback(9))
    defer { withExtendedLifetime(hole) {} }
    await withReactor { reactor in
      await #expect(throws: DialFailure(phase: .dial, cause: .deadline)) {
        try await Dialer.dial(
          Endpoint(host: "127.0.0.9", port: hole.port), on: reactor,
          dialTimeout: .milliseconds(300))
      }
    }
  }

  @Test(arguments: ["127.0.0.1", "::1"])
  func aNumericAddressIsDialled(host: String) async throws {
    let address = try #require(NetworkAddress(numeric: host))
    let listener = try LoopbackListener(at: address)
    defer { withExtendedLifetime(listener) {} }
    try await withReactor { reactor in
      let phases = Log<ConnectionPhase>()
      let endpoint = Endpoint(host: host, port: listener.port)
      let socket = try await Dialer.dial(endpoint, on: reactor) { phases.append($0) }
      #expect(phases.all == [.resolve, .dial])
      #expect(socket.condition == .open)
      #expect(socket.isNonBlocking)
      #expect(socket.isCloseOnExec)
      #expect(socket.tcpOption(1) == 1)  // TCP_NODELAY
      let far = listener.accept()
      far.write([42])
      try await eventually { socket.read().bytes == [42] }
    }
  }

  @Test func aNameOfTheSystemIsDialled() async throws {
    let listener = try LoopbackListener(at: .loopback)
    defer { withExtendedLifetime(listener) {} }
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "localhost", port: listener.port)
      let socket = try await Dialer.dial(endpoint, on: reactor)
      #expect(socket.descriptor >= 0)
    }
  }

  @Test func aBlackHoleInOneFamilyDoesNotKeepTheOtherFromConnecting() async throws {
    let (hole, listener) = try BlackHole.besideListener()
    defer { withExtendedLifetime((hole, listener)) {} }
    try await withReactor { reactor in
      let winners = Mutex(WinnerMemory())
      let endpoint = Endpoint(host: "two.example", port: hole.port)
      let route = Route(
        endpoint, on: reactor,
        resolver: Resolver(lookup: ScriptedLookup.answering([.loopbackV6, .loopback])),
        winners: winners)
      let socket = try await route.dial()
      let far = listener.accept()
      far.write([1])
      try await eventually { socket.read().bytes == [1] }
      #expect(winners.withLock { $0.winner(at: endpoint) } == .loopback)
      let order = try await route.resolve(within: .seconds(5))
      #expect(order == [.loopback, .loopbackV6])
    }
  }

  @Test func aRefusalStartsTheNextAddressAtOnceAndSaysMoreThanAMissingRoute() async throws {
    let closed = try LoopbackListener(at: .loopback, backlog: nil)
    defer { withExtendedLifetime(closed) {} }
    let port = closed.port
    await withReactor { reactor in
      let route = Route(
        Endpoint(host: "all.example", port: port), on: reactor,
        resolver: Resolver(lookup: ScriptedLookup.answering([.unroutable, .loopback])),
        winners: Mutex(WinnerMemory()))
      await #expect(
        throws: DialFailure(phase: .dial, cause: .failed(errno: 111), nativeCode: 111)
      ) {
        try await route.dial()
      }
    }
  }

  @Test func eachAddressIsReportedWithItsEnding() async throws {
    let listener = try LoopbackListener(at: .loopback)
    defer { withExtendedLifetime(listener) {} }
    let port = listener.port
    try await withReactor { reactor in
      let facts = Log<DialFact>()
      let route = Route(
        Endpoint(host: "all.example", port: port), on: reactor,
        resolver: Resolver(lookup: ScriptedLookup.answering([.unroutable, .loopback])),
        winners: Mutex(WinnerMemory()))
      _ = try await route.dial(
        resolveTimeout: .seconds(5), dialTimeout: .seconds(10), observe: { facts.append($0) },
        entered: { _ in })
      #expect(
        facts.all == [
          .resolved([.unroutable, .loopback]), .began(.unroutable),
          .ended(.unroutable, .failed(errno: 101)), .began(.loopback),
          .ended(.loopback, .connected),
        ])
    }
  }

  @Test func anAddressThatDoesNotAnswerIsReportedAtTheDeadline() async throws {
    let hole = try BlackHole(at: .loopback(9))
    defer { withExtendedLifetime(hole) {} }
    await withReactor { reactor in
      let facts = Log<DialFact>()
      let route = Route(
        Endpoint(host: "127.0.0.9", port: hole.port), on: reactor, winners: Mutex(WinnerMemory()))
      await #expect(throws: DialFailure.self) {
        try await route.dial(
          resolveTimeout: .seconds(5), dialTimeout: .milliseconds(300),
          observe: { facts.append($0) }, entered: { _ in })
      }
      #expect(facts.all.last == .ended(.loopback(9), .unanswered))
    }
  }

  @Test(arguments: [true, false])
  func withoutARouteAnInterfaceDecidesWhetherWeAreOffline(isUp: Bool) async throws {
    await withReactor { reactor in
      let route = Route(
        Endpoint(host: "far.example", port: 9), on: reactor,
        resolver: Resolver(lookup: ScriptedLookup.answering([.unroutable])),
        winners: Mutex(WinnerMemory()), hasInterface: { isUp })
      let error = await #expect(throws: DialFailure.self) { try await route.dial() }
      #expect((error?.cause == .offline) == !isUp)
      #expect(error?.nativeCode == 101)
    }
  }

  @Test func aProbeTellsTheWinner() async throws {
    let (hole, listener) = try BlackHole.besideListener()
    defer { withExtendedLifetime((hole, listener)) {} }
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "probe.example", port: hole.port)
      let addresses = [NetworkAddress.loopbackV6, .loopback]
      let address = try await Dialer.probe(addresses, of: endpoint, on: reactor)
      #expect(address.description == "127.0.0.1")
      #expect(listener.accept().descriptor >= 0)
    }
  }

  @Test func theListOfAddressesIsHadWithoutADial() async throws {
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "::1", port: 1)
      let addresses = try await Dialer.resolve(endpoint, on: reactor)
      #expect(addresses == [.loopbackV6])
    }
  }

  @Test func aDialFromAnotherActorAnswersThere() async throws {
    let listener = try LoopbackListener(at: .loopback)
    defer { withExtendedLifetime(listener) {} }
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
      let descriptor = try await dialedOnMain(endpoint, reactor)
      #expect(descriptor >= 0)
    }
  }

  @MainActor private func dialedOnMain(
    _ endpoint: Endpoint, _ reactor: Reactor
  ) async throws -> Int32 {
    let socket = try await Dialer.dial(endpoint, on: reactor)
    MainActor.assertIsolated()
    return socket.descriptor
  }

  /// Sooner or later the port without a listener is chosen as our own: TCP then connects the
  /// socket to itself.
  @Test func aSocketConnectedToItselfCountsAsRefused() throws {
    #expect(try SelfConnected().socket.connectOutcome() == 111)
  }

  @Test func fiftyDialsAtOnceAllConnect() async throws {
    let listener = try LoopbackListener(at: .loopback, backlog: 64)
    defer { withExtendedLifetime(listener) {} }
    try await withReactor { reactor in
      let endpoint = Endpoint(host: "localhost", port: listener.port)
      try await withThrowingTaskGroup(of: Socket.self) { group in
        for _ in 0..<50 { group.addTask { try await Dialer.dial(endpoint, on: reactor) } }
        var descriptors: Set<Int32> = []
        var sockets: [Socket] = []
        for try await socket in group {
          descriptors.insert(socket.descriptor)
          sockets.append(socket)
        }
        #expect(descriptors.count == 50)
        #expect(sockets.allSatisfy { $0.condition == .open })
      }
    }
  }
}
