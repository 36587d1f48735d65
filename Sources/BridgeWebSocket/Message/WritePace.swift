/// How long what is to be written waits for more of it.
///
/// While messages come in, the answers to them are collected for a few turns of the loop: else both
/// sides would fall into step and exchange one at a time. A turn that only looks costs a system
/// call, so where such turns find nothing (one message in flight) only one in so many is taken.
package struct WritePace: Sendable {
  private static let longest = 8
  private static let idleLimit = 4
  private static let rarity = 32

  private var turns = 0
  /// Turns in a row that brought nothing.
  private var idle = 0
  private var skipped = 0

  /// Creates an empty state.
  package init() {}

  /// Something is to be written.
  package mutating func begin() { turns = 0 }

  /// Whether another turn is waited for, at the end of one that took in `received` short messages.
  package mutating func goesOn(after received: Int, isFull: Bool) -> Bool {
    if turns > 0 { idle = received > 0 ? 0 : idle + 1 }
    if received > 1 { idle = 0 }
    guard received > 0, turns < Self.longest, !isFull else { return false }
    if idle >= Self.idleLimit {
      skipped += 1
      guard skipped.isMultiple(of: Self.rarity) else { return false }
    }
    turns += 1
    return true
  }
}
