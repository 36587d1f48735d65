import BridgeErrors
import BridgeTransport

/// One question to a resolver, asked on the reactor's thread, where its deadline is counted.
actor ResolveDesk {
  private let resolver: Resolver
  private let reactor: Reactor
  private var deadline: LoopTimer?

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.lane }

  init(_ resolver: Resolver, on reactor: Reactor) {
    self.resolver = resolver
    self.reactor = reactor
  }

  /// The addresses of `host`, best first. A desk answers one question.
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
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (caller: Resolver.Waiter) in
        // In one turn with the joining: a deadline that passed before would find nobody to answer.
        deadline = LoopTimer(after: timeout, on: reactor) { [resolver] in
          resolver.leave(ticket, with: .nameTimeout)
        }
        resolver.join(host, ticket, caller, on: reactor)
      }
    } onCancel: {
      resolver.leave(ticket, with: .cancelled)
    }
    deadline?.cancel()
    return try answer.get()
  }
}
