/// The waiters for each name: one lookup per host at a time, shared by all callers meanwhile.
///
/// Being removed from the table is the one right to be answered.
struct LookupTable<Waiter> {
  /// Identifies one waiter.
  struct Ticket: Hashable {
    fileprivate let number: Int
  }

  private var waiting: [String: [(ticket: Ticket, waiter: Waiter)]] = [:]
  private var hosts: [Ticket: String] = [:]
  private var lastNumber = 0

  /// Names of which a lookup runs, awaited or abandoned.
  var lookups: Int { waiting.count }
  /// How many wait.
  var waiters: Int { hosts.count }

  /// A ticket that was never given out before.
  mutating func ticket() -> Ticket {
    lastNumber += 1
    return Ticket(number: lastNumber)
  }

  /// Adds `waiter` for `host`; true when it is the first, so that a lookup must start.
  mutating func join(_ host: String, _ ticket: Ticket, _ waiter: Waiter) -> Bool {
    hosts[ticket] = host
    let isFirst = waiting[host] == nil
    waiting[host, default: []].append((ticket, waiter))
    return isFirst
  }

  /// Ends the waiting of `ticket`; nil when it was answered before. The lookup runs on: a caller
  /// that asks for the same host before its end shares it, so that a resolver that hangs holds one
  /// thread per host and not one per retry.
  mutating func cancel(_ ticket: Ticket) -> Waiter? {
    guard let host = hosts.removeValue(forKey: ticket),
      let index = waiting[host]?.firstIndex(where: { $0.ticket == ticket })
    else { return nil }
    return waiting[host]?.remove(at: index).waiter
  }

  /// The waiters for `host`, in order of arrival: its lookup begins.
  func waiters(for host: String) -> [Waiter] { waiting[host]?.map(\.waiter) ?? [] }

  /// Removes and returns the remaining waiters for `host`, in order of arrival: its lookup ended.
  mutating func end(_ host: String) -> [Waiter] {
    let ended = waiting.removeValue(forKey: host) ?? []
    for entry in ended { hosts[entry.ticket] = nil }
    return ended.map(\.waiter)
  }
}
