/// Decides in which order and when the addresses of a host are tried, and who wins (RFC 8305,
/// "Happy Eyeballs"): no clock, no socket.
///
/// The runner passes each event to `step` and performs the returned actions, in order. Attempts
/// are named by their index in `order`.
package struct AddressRace {
  /// An event of the race.
  package enum Event: Sendable, Equatable {
    case begun
    /// The delay that was armed is over.
    case delayElapsed
    case connected(Int)
    case failed(Int, errno: Int32)
  }

  /// An action.
  package enum Action: Sendable, Equatable {
    case connect(Int)
    /// Report `delayElapsed` after `attemptDelay`, counted from now; an armed delay starts over.
    case armDelay
    case disarmDelay
    /// Close the attempt's socket; it is no longer needed.
    case abandon(Int)
    case win(Int)
    /// Every address failed; this is the most informative error.
    case lose(errno: Int32)
  }

  /// The connection attempt delay of RFC 8305, section 8.
  package static let attemptDelay = Duration.milliseconds(250)
  /// At most this many addresses of one name are tried: a name server must not make us open any
  /// number of sockets.
  package static let mostAddresses = 16

  /// The addresses in the order in which they are tried.
  package let order: [NetworkAddress]
  private var next = 0
  private var running: [Int] = []
  private var telling: Int32?
  private var isOver = false

  /// A race between `addresses`, best first as the resolver sorted them (RFC 6724); `favorite`,
  /// the last winner, goes first if it is still among them.
  package init(_ addresses: [NetworkAddress], favorite: NetworkAddress? = nil) {
    order = Self.interleaved(addresses, favorite: favorite)
  }

  /// Takes in `event`; an event of an attempt that is no longer running changes nothing.
  package mutating func step(_ event: Event) -> [Action] {
    guard !isOver else { return [] }
    switch event {
    case .begun:
      return next == 0 ? connectNext() : []
    case .delayElapsed:
      return next < order.count ? connectNext() : []
    case .connected(let attempt):
      guard running.contains(attempt) else { return [] }
      isOver = true
      return [.disarmDelay] + running.filter { $0 != attempt }.map(Action.abandon) + [.win(attempt)]
    case .failed(let attempt, let errno):
      guard let index = running.firstIndex(of: attempt) else { return [] }
      running.remove(at: index)
      telling = Self.moreTelling(telling, errno)
      // A failure starts the next attempt at once (RFC 8305, section 5).
      if next < order.count || running.isEmpty { return connectNext() }
      return []
    }
  }

  private mutating func connectNext() -> [Action] {
    guard next < order.count else {
      isOver = true
      return [.disarmDelay, .lose(errno: telling ?? ErrorNumber.hostUnreachable)]
    }
    let attempt = next
    next += 1
    running.append(attempt)
    return [next < order.count ? .armDelay : .disarmDelay, .connect(attempt)]
  }

  /// First the favorite's family (or the first address's), then the families in turn, each in its
  /// own order; duplicates and what is over `mostAddresses` are left out.
  private static func interleaved(
    _ addresses: [NetworkAddress], favorite: NetworkAddress?
  ) -> [NetworkAddress] {
    var sorted: [NetworkAddress] = []
    if let favorite, addresses.contains(favorite) { sorted.append(favorite) }
    for address in addresses where !sorted.contains(address) { sorted.append(address) }
    guard let first = sorted.first else { return [] }
    let same = sorted.filter { $0.family == first.family }
    let other = sorted.filter { $0.family != first.family }
    var mixed: [NetworkAddress] = []
    for index in 0..<max(same.count, other.count) {
      if index < same.count { mixed.append(same[index]) }
      if index < other.count { mixed.append(other[index]) }
    }
    return Array(mixed.prefix(mostAddresses))
  }

  /// Of two errors the one that says more about why no address could be connected; the earlier at a
  /// tie.
  private static func moreTelling(_ known: Int32?, _ new: Int32) -> Int32 {
    guard let known else { return new }
    return ErrorNumber.weight(new) > ErrorNumber.weight(known) ? new : known
  }
}
