package import BridgeRecovery

/// When what is typed into a durable shell goes on: at once while the link is up; by itself after a
/// short outage; after a long one only when the user says so, for the screen was old.
package struct TypingGate: Sendable, Equatable {
  /// What follows for the keyboard.
  package enum Step: Sendable, Equatable {
    /// It stays as it is.
    case nothing
    /// What is typed is kept.
    case hold
    /// What was kept is sent, and what is typed from now on.
    case release
    /// The user is asked: so many seconds have passed since the link was lost.
    case ask(seconds: Int)
    /// What was kept is dropped, and what is typed from now on is sent.
    case drop

    /// Whether the program's screen is drawn again after a reconnect: not over a question.
    package var showsProgram: Bool {
      switch self {
      case .release, .drop: true
      case .nothing, .hold, .ask: false
      }
    }
  }

  /// After a longer outage the user is asked.
  package static let silentOutage = Duration.seconds(10)

  private var isSuspected = false
  private var isDown = false
  private var isAsking = false
  private var isApproved = false
  private var since: Moment?

  /// Open: the link is up.
  package init() {}

  /// The link is suspected, or no longer.
  package mutating func suspect(_ isSuspected: Bool, at now: Moment, held: Int) -> Step {
    self.isSuspected = isSuspected
    return isSuspected ? close(at: now) : open(at: now, held: held)
  }

  /// The session lost its link.
  package mutating func suspend(at now: Moment) -> Step {
    isDown = true
    return close(at: now)
  }

  /// The session is attached again.
  package mutating func attach(at now: Moment, held: Int) -> Step {
    (isDown, isSuspected) = (false, false)
    return open(at: now, held: held)
  }

  /// The user said whether what was typed is sent.
  package mutating func answer(sends: Bool) -> Step {
    guard isAsking else { return .nothing }
    isAsking = false
    let isOpen = !isDown && !isSuspected
    if isOpen { since = nil }
    guard sends else { return isOpen ? .drop : .nothing }
    isApproved = !isOpen
    return isOpen ? .release : .nothing
  }

  private mutating func close(at now: Moment) -> Step {
    guard since == nil else { return .nothing }
    since = now
    return .hold
  }

  private mutating func open(at now: Moment, held: Int) -> Step {
    guard !isDown, !isSuspected, !isAsking, let since else { return .nothing }
    let outage = now - since
    if held > 0, !isApproved, outage > Self.silentOutage {
      isAsking = true
      return .ask(seconds: Int(outage.components.seconds))
    }
    (self.since, isApproved) = (nil, false)
    return .release
  }
}
