import BridgeErrors

/// What a host may still count as unauthenticated although we are done with it.
///
/// OpenSSH counts a connection against MaxStartups until its own process has reported to the
/// listener that the user is authenticated, or has ended (sshd.c, `startup_pipes`): on a busy host
/// long after the client received its success, or has closed. The first answer on the new
/// connection comes from what follows that message, so it proves that the slot is free; a closed
/// one is given time to end.
struct DialSlots: Sendable {
  private struct Slot: Sendable {
    var id: ConnectionID
    var generation: Int?
    var until: Moment
  }

  private var slots: [Slot] = []

  var count: Int { slots.count }

  /// When the next one is free by time alone.
  var next: Moment? { slots.lazy.map(\.until).min() }

  /// When all are free by time alone.
  var last: Moment? { slots.lazy.map(\.until).max() }

  /// A generation is authenticated; its first answer frees the slot.
  mutating func authenticated(_ id: ConnectionID, _ generation: Int, at now: Moment) {
    slots.append(
      Slot(id: id, generation: generation, until: now + RecoveryDefaults.proofLimit))
  }

  /// Records the first answer. False when no slot depended on it.
  mutating func proved(_ id: ConnectionID, _ generation: Int) -> Bool {
    guard let index = index(of: id, generation) else { return false }
    slots.remove(at: index)
    return true
  }

  /// A dial was given up, by us.
  mutating func abandoned(_ id: ConnectionID, at now: Moment) {
    slots.append(Slot(id: id, generation: nil, until: now + RecoveryDefaults.departureTime))
  }

  /// A generation ended before it was heard.
  mutating func ended(_ id: ConnectionID, _ generation: Int, at now: Moment) {
    guard let index = index(of: id, generation) else { return }
    slots[index].generation = nil
    slots[index].until = now + RecoveryDefaults.departureTime
  }

  mutating func expire(at now: Moment) {
    slots.removeAll { $0.until <= now }
  }

  private func index(of id: ConnectionID, _ generation: Int) -> Int? {
    slots.firstIndex { $0.id == id && $0.generation == generation }
  }
}
