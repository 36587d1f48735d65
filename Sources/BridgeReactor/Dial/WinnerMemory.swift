package import BridgeTransport

/// Which address of an endpoint won the last race, so that the next dial tries it first.
///
/// Bounded: beyond `capacity` endpoints the one that was written longest ago is forgotten.
package struct WinnerMemory: Sendable {
  /// At most this many endpoints are remembered.
  package let capacity: Int
  private var winners: [Endpoint: NetworkAddress] = [:]
  private var oldestFirst: [Endpoint] = []

  /// An empty memory.
  package init(capacity: Int = 256) {
    self.capacity = capacity
  }

  /// The last winner at `endpoint`.
  package func winner(at endpoint: Endpoint) -> NetworkAddress? {
    winners[endpoint]
  }

  /// Remembers the winning address of `endpoint`; nil forgets it.
  package mutating func remember(_ winner: NetworkAddress?, at endpoint: Endpoint) {
    guard winners[endpoint] != winner else { return }
    oldestFirst.removeAll { $0 == endpoint }
    winners[endpoint] = winner
    guard winner != nil else { return }
    oldestFirst.append(endpoint)
    if oldestFirst.count > capacity { winners[oldestFirst.removeFirst()] = nil }
  }
}
