/// Which messages are known to have arrived, connection by connection.
///
/// Only a pong proves it, of all that was sent before its ping: both keep their order (RFC 6455,
/// 5.5.3). Other messages prove nothing; they may have been under way, or the other direction dead.
package struct Receipts: Sendable {
  private struct Counts {
    var sent = 0
    var proven = 0
    /// Messages that came, without the replies to what is proven. Who counts them and who proves
    /// do not wait for each other: it is below zero where such a reply is counted later.
    var replies = 0
  }

  private var counts: [Int: Counts] = [:]

  /// Creates empty receipts.
  package init() {}

  /// A message went into `generation`.
  package mutating func recordSent(_ generation: Int) {
    var known = counts[generation] ?? Counts()
    if known.proven == known.sent { known.replies = 0 }
    known.sent += 1
    counts[generation] = known
  }

  /// A message came over `generation`.
  package mutating func recordReceived(_ generation: Int) { counts[generation]?.replies += 1 }

  /// Whether as many messages came as were sent and not proven. It is no proof, but together with
  /// a close that says that all is done (code 1000) it is as good as one: a server that closes with
  /// its reply has no time for a pong.
  package func isAnswered(_ generation: Int) -> Bool {
    guard let counts = counts[generation] else { return true }
    return counts.replies >= counts.sent - counts.proven
  }

  /// How many messages a pong would prove if its ping were sent now; nil when all are proven.
  package func pending(of generation: Int) -> Int? {
    guard let counts = counts[generation], counts.proven < counts.sent else { return nil }
    return counts.sent
  }

  /// The first `count` messages of `generation` have arrived.
  package mutating func prove(_ count: Int, of generation: Int) {
    guard let known = counts[generation] else { return }
    guard count > known.proven else { return }
    let proven = min(count, known.sent)
    counts[generation]?.proven = proven
    counts[generation]?.replies -= proven - known.proven
  }

  /// How many messages went into `generation`, which has ended, without proof; they are forgotten.
  package mutating func takeDoubtful(of generation: Int) -> Int {
    guard let counts = counts.removeValue(forKey: generation) else { return 0 }
    return counts.sent - counts.proven
  }
}
