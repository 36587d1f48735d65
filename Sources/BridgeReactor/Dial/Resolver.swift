import BridgeErrors
import BridgeWaiting

/// Resolves names to addresses, one lookup per host at a time for all callers.
///
/// A lookup without a remaining caller runs to its end in the resolver's thread; its answer is
/// dropped.
package final class Resolver: Sendable {
  /// The system's resolver, for the whole process.
  package static let shared = Resolver(lookup: .system)

  typealias Ticket = LookupTable<Waiter>.Ticket

  /// A pending caller.
  struct Waiter: Sendable {
    let caller: Promise<Lookup.Answer>
    /// Called when the lookup has its turn, unless it had it before.
    let began: @Sendable () -> Void
  }

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

  /// An identifier for a new waiter.
  func ticket() -> Ticket {
    table.withLock { $0.ticket() }
  }

  /// Lets `waiter` wait for the addresses of `host` until they are known or `ticket` leaves. Call
  /// it on the reactor's thread, from the task that waits.
  func join(_ host: String, _ ticket: Ticket, _ waiter: Waiter, on reactor: Reactor) {
    guard !Task.isCancelled else {
      waiter.caller.fulfill(.failure(DialFailure(phase: .resolve, cause: .cancelled)))
      return
    }
    guard table.withLock({ $0.join(host, ticket, waiter) }) else { return }
    // A lookup that hangs holds the table, and not the resolver that holds the lookup.
    lookup.start(host, reactor) { [table] in
      for waiter in table.withLock({ $0.waiters(for: host) }) { waiter.began() }
    } _: { [table] answer in
      let waiters = table.withLock { $0.end(host) }
      for waiter in waiters { waiter.caller.fulfill(answer) }
    }
  }

  /// Resumes the waiter `ticket` with `cause`, unless it was resumed before. From any thread.
  func cancel(_ ticket: Ticket, with cause: DialFailure.Cause) {
    let waiter = table.withLock { $0.cancel(ticket) }
    waiter?.caller.fulfill(.failure(DialFailure(phase: .resolve, cause: cause)))
  }
}
