package import BridgeErrors

/// When a connection has its next turn, and what the end of this one asks for.
///
/// Decided here from what the connection reports; `SSHConnection.pump` does it. `Timer` ends the
/// time for which bytes may wait.
package struct TurnSchedule<Timer> {
  /// What brings the next turn.
  package enum Next: Sendable {
    /// An event: the socket is ready, a caller has work, a reader made space. Can become queued.
    case event
    /// The loop, after others had their turns; an event may bring one before. Can become event.
    case queued
  }

  /// Bytes that no call has asked for: a key exchange, a keepalive, the end.
  package enum Unrequested {
    /// None wait. Can become deferred.
    case none
    /// They wait for an operation that reads them on its way, until this timer fires. Can become
    /// none.
    case deferred(Timer)
  }

  /// One turn, as it was found.
  package struct Turn: Sendable {
    /// Whether the socket's readiness brought it.
    package let isReadable: Bool
    /// Whether some call read the wire when it began.
    package let wasAsked: Bool

    /// A turn that begins.
    package init(isReadable: Bool, wasAsked: Bool) {
      self.isReadable = isReadable
      self.wasAsked = wasAsked
    }

    /// Whether bytes are there that no call waits for: those that brought a turn without one, or
    /// more than the last call waited for.
    package func leavesUnread(hasInbound: Bool, isReading: Bool) -> Bool {
      (hasInbound && !isReading) || (isReadable && !wasAsked)
    }
  }

  /// How often the server is prompted for a reply in the life of a connection.
  package static var mostPrompts: Int { 4 }

  /// What brings the next turn.
  package private(set) var next = Next.event
  /// What no call has asked for.
  package private(set) var unrequested = Unrequested.none
  private var promptsLeft = Self.mostPrompts

  /// The schedule of a connection without a turn.
  package init() {}

  /// Whether one more turn must be posted to the loop: none is queued yet.
  package mutating func queue() -> Bool {
    guard next == .event else { return false }
    next = .queued
    return true
  }

  /// The queued turn begins.
  package mutating func beginQueued() { next = .event }

  /// Whether a packet is to be sent, so that the kernel of the server's side lets go of a reply
  /// that it keeps back: bytes came while an open, or the probe of a connection that `isNew`, is
  /// under way, and did not answer it.
  package mutating func promptsReply(in phase: ConnectionPhase, isNew: Bool) -> Bool {
    guard phase == .openChannel || (phase == .stream && isNew), promptsLeft > 0 else {
      return false
    }
    promptsLeft -= 1
    return true
  }

  /// Leaves what came unread until `timer` fires; returns a timer that is to be canceled.
  package mutating func deferReading(until timer: Timer) -> Timer? {
    let last = readUnrequested()
    unrequested = .deferred(timer)
    return last
  }

  /// Some call reads what came, or nothing is read any more; returns the timer that is to be
  /// canceled.
  package mutating func readUnrequested() -> Timer? {
    guard case .deferred(let timer) = unrequested else { return nil }
    unrequested = .none
    return timer
  }
}
