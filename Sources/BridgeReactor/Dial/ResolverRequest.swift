import BridgeErrors
import BridgeWaiting

/// One request to a resolver, made on the reactor's thread, where its deadline is counted.
actor ResolverRequest {
  private let resolver: Resolver
  private let reactor: Reactor
  private var deadline: LoopTimer?

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  init(_ resolver: Resolver, on reactor: Reactor) {
    self.resolver = resolver
    self.reactor = reactor
  }

  /// Resolves `host` to addresses, best first. Used once.
  ///
  /// `timeout` is counted from the moment at which the lookup begins. Where many names are looked
  /// up, it may have to wait for its turn, at most as long again.
  ///
  /// - Throws: `nameUnknown`, `nameTimeout` (also after `timeout`), `failed` where descriptors or
  ///   memory ran out, `cancelled`; always in phase `.resolve`.
  func addresses(
    of host: String, within timeout: Duration
  ) async throws(DialFailure) -> [NetworkAddress] {
    if let shortage = reactor.openLoop() {
      throw DialFailure(
        phase: .resolve, cause: .failed(errno: shortage), nativeCode: Int(-shortage))
    }
    if let address = NetworkAddress(numeric: host) { return [address] }
    let ticket = resolver.ticket()
    // In one turn with the joining: a deadline that passed before would find no waiter.
    startDeadline(of: ticket, timeout)
    let caller = Promise<Lookup.Answer>()
    let waiter = Resolver.Waiter(caller: caller) { [self, reactor] in
      reactor.execute { [self] in assumeIsolated { $0.begin(ticket, timeout) } }
    }
    resolver.join(host, ticket, waiter, on: reactor)
    let answer = await caller.value { [resolver] in resolver.cancel(ticket, with: .cancelled) }
    deadline?.cancel()
    deadline = nil
    return try answer.get()
  }

  private func startDeadline(of ticket: Resolver.Ticket, _ timeout: Duration) {
    deadline = LoopTimer(deadline: timeout, on: reactor) { [resolver] in
      resolver.cancel(ticket, with: .nameTimeout)
    }
  }

  /// Restarts the deadline when the lookup begins, unless it was answered meanwhile.
  private func begin(_ ticket: Resolver.Ticket, _ timeout: Duration) {
    if deadline != nil { startDeadline(of: ticket, timeout) }
  }
}
