/// Which messages are known to have arrived, connection by connection.
///
/// Only a pong proves it, of all that was sent before its ping: both keep their order (RFC 6455,
/// 5.5.3). Other messages prove nothing; they may have been under way, or the other direction dead.
package struct Receipts: Sendable {
  private struct Counts {
    var sent = 0
    var proven = 0
  }

  private var counts: [Int: Counts] = [:]

  /// Nothing sent.
  package init() {}

  /// A message went into `generation`.
  package mutating func noteSent(_ generation: Int) {
    counts[generation, default: Counts()].sent += 1
  }

  /// How many messages a pong would prove if its ping were sent now; nil when all are proven.
  package func pending(of generation: Int) -> Int? {
    guard let counts = counts[generation], counts.proven < counts.sent else { return nil }
    return counts.sent
  }

  /// The first `count` messages of `generation` have arrived.
  package mutating func prove(_ count: Int, of generation: Int) {
    guard let known = counts[generation] else { return }
    counts[generation]?.proven = max(known.proven, min(count, known.sent))
  }

  /// How many messages went into `generation`, which has ended, without proof; they are forgotten.
  package mutating func takeDoubtful(of generation: Int) -> Int {
    guard let counts = counts.removeValue(forKey: generation) else { return 0 }
    return counts.sent - counts.proven
  }
}
