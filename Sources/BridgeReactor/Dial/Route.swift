package import BridgeErrors
package import BridgeTransport
package import BridgeWaiting

/// The resolution and dialing of one endpoint, with its remembered winner.
///
/// Production shares one resolver and one memory; tests bring their own.
package struct Route: Sendable {
  /// The winners of the whole process.
  package static let winners = Mutex(WinnerMemory())

  private let endpoint: Endpoint
  private let reactor: Reactor
  private let resolver: Resolver
  private let winners: Mutex<WinnerMemory>
  private let hasInterface: @Sendable () -> Bool

  /// The way to `endpoint` over sockets of `reactor`; `hasInterface` tells whether a network
  /// interface is up.
  package init(
    _ endpoint: Endpoint, on reactor: Reactor, resolver: Resolver = .shared,
    winners: Mutex<WinnerMemory> = Route.winners,
    hasInterface: @escaping @Sendable () -> Bool = NetworkInterfaces.hasOneUp
  ) {
    self.endpoint = endpoint
    self.reactor = reactor
    self.resolver = resolver
    self.winners = winners
    self.hasInterface = hasInterface
  }

  /// Resolves the name, races the addresses and returns the winner's socket.
  package func dial(
    over family: NetworkAddress.Family? = nil, from source: DialSource? = nil,
    resolveTimeout: Duration, dialTimeout: Duration,
    observe: @escaping DialFact.Observer = { _ in },
    entered: @Sendable (ConnectionPhase) -> Void
  ) async throws(DialFailure) -> Socket {
    entered(.resolve)
    let all = try await resolve(within: resolveTimeout)
    let addresses = all.filter { family == nil || $0.family == family }
    guard !addresses.isEmpty else {
      if all.isEmpty { throw DialFailure(phase: .resolve, cause: .nameUnknown) }
      throw Self.failure(ErrorNumber.familyUnsupported)
    }
    observe(.resolved(addresses))
    let sources = try await sources(source, within: resolveTimeout)
    entered(.dial)
    let reachable = addresses.filter { source == nil || sources[$0.family] != nil }
    guard !reachable.isEmpty else { throw Self.failure(ErrorNumber.sourceMissing) }
    return try await race(reachable, from: sources, within: dialTimeout, observe).socket
  }

  private static func failure(_ errno: Int32) -> DialFailure {
    DialFailure(phase: .dial, cause: .failed(errno: errno), nativeCode: Int(errno))
  }

  /// The addresses of `source`, the first of each family.
  private func sources(
    _ source: DialSource?, within timeout: Duration
  ) async throws(DialFailure) -> [NetworkAddress.Family: NetworkAddress] {
    let addresses: [NetworkAddress]
    switch source {
    case nil: return [:]
    case .interface(let name): addresses = NetworkInterfaces.addresses(of: name)
    case .address(let text):
      do throws(DialFailure) {
        addresses = try await lookUp(text, within: timeout)
      } catch {
        // The name is one of this machine: nothing is wrong with that of the host.
        throw error.cause == .cancelled ? error : Self.failure(ErrorNumber.sourceMissing)
      }
    }
    return Dictionary(addresses.map { ($0.family, $0) }) { first, _ in first }
  }

  /// The addresses of the host, in the order in which they would be tried.
  package func resolve(
    within timeout: Duration
  ) async throws(DialFailure) -> [NetworkAddress] {
    let addresses = try await lookUp(endpoint.host, within: timeout)
    return AddressRace(addresses, favorite: favorite).order
  }

  private func lookUp(
    _ host: String, within timeout: Duration
  ) async throws(DialFailure) -> [NetworkAddress] {
    let request = ResolverRequest(resolver, on: reactor)
    return try await withTaskExecutorPreference(reactor) {
      () async throws(DialFailure) -> [NetworkAddress] in
      try await request.addresses(of: host, within: timeout)
    }
  }

  /// Races `addresses`, closes the winner's socket and returns its address.
  package func probe(
    _ addresses: [NetworkAddress], within timeout: Duration,
    observe: @escaping DialFact.Observer = { _ in }
  ) async throws(DialFailure) -> NetworkAddress {
    let winner = try await race(addresses, within: timeout, observe)
    winner.socket.close()
    return winner.address
  }

  private func race(
    _ addresses: [NetworkAddress], from sources: [NetworkAddress.Family: NetworkAddress] = [:],
    within timeout: Duration, _ observe: @escaping DialFact.Observer
  ) async throws(DialFailure) -> RaceRunner.Winner {
    let race = AddressRace(addresses, favorite: favorite)
    let runner = RaceRunner(
      race, port: endpoint.port, from: sources, on: reactor, hasInterface: hasInterface,
      observe: observe)
    let winner = try await withTaskExecutorPreference(reactor) {
      () async throws(DialFailure) -> RaceRunner.Winner in
      try await runner.winner(within: timeout)
    }
    winners.withLock { $0.remember(winner.address, at: endpoint) }
    return winner
  }

  private var favorite: NetworkAddress? {
    winners.withLock { $0.winner(at: endpoint) }
  }
}
