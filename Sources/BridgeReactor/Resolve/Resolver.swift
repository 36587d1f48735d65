import BridgeErrors
import BridgeTransport

/// Turns names into addresses, one lookup per host at a time for all who wait.
///
/// A lookup nobody waits for any more runs to its end in the resolver's thread; its answer is
/// dropped.
package final class Resolver: Sendable {
  /// The system's resolver, for the whole process.
  package static let shared = Resolver(lookup: .system)

  private typealias Waiter = CheckedContinuation<Lookup.Answer, Never>
  private let lookup: Lookup
  private let table = Mutex(LookupTable<Waiter>())

  /// A resolver that asks `lookup`.
  package init(lookup: Lookup) {
    self.lookup = lookup
  }

  /// How many lookups run and how many callers wait, for tests and counters.
  package var load: (lookups: Int, waiters: Int) {
    table.withLock { ($0.lookups, $0.waiters) }
  }

  /// The addresses of `host`, best first. Call it on the reactor's thread.
  ///
  /// - Throws: `nameUnknown`, `nameTimeout` (also after `timeout`), `failed` where descriptors or
  ///   memory ran out, `cancelled`; always in phase `.resolve`.
  func addresses(
    of host: String, within timeout: Duration, on reactor: Reactor,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(DialFailure) -> [NetworkAddress] {
    if let address = NetworkAddress(numeric: host) { return [address] }
    let ticket = table.withLock { $0.ticket() }
    let deadline = LoopTimer(after: timeout, on: reactor) { [self] in
      leave(ticket, with: .nameTimeout)
    }
    defer { deadline.cancel() }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (caller: Waiter) in
        join(host, ticket, caller, on: reactor)
      }
    } onCancel: {
      leave(ticket, with: .cancelled)
    }
    return try answer.get()
  }

  private func join(
    _ host: String, _ ticket: LookupTable<Waiter>.Ticket, _ caller: Waiter, on reactor: Reactor
  ) {
    guard !Task.isCancelled else {
      return caller.resume(returning: .failure(DialFailure(phase: .resolve, cause: .cancelled)))
    }
    let isFirst = table.withLock { $0.join(host, ticket, caller) }
    // A cancellation that came in between found nobody to answer.
    if Task.isCancelled { leave(ticket, with: .cancelled) }
    guard isFirst else { return }
    lookup.start(host, reactor) { [self] answer in
      let waiters = table.withLock { $0.end(host) }
      for waiter in waiters { waiter.resume(returning: answer) }
    }
  }

  private func leave(_ ticket: LookupTable<Waiter>.Ticket, with cause: DialFailure.Cause) {
    let waiter = table.withLock { $0.leave(ticket) }
    waiter?.resume(returning: .failure(DialFailure(phase: .resolve, cause: cause)))
  }
}
