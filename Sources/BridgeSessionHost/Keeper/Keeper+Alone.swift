import BridgeSessionProtocol

// A session that belongs to its client does not outlive it by more than was asked for.
extension Keeper {
  /// Whether a client is there, for a session that belongs to one.
  enum Alone: Equatable {
    case no
    /// Since a time of the keeper's clock, and of the calendar.
    case since(Milliseconds, seconds: UInt64)
    /// Hung up: that is done once.
    case hungUp

    /// In seconds since 1970; 0 for no time.
    var wallClock: UInt64 { if case .since(_, let seconds) = self { seconds } else { 0 } }
  }

  /// When the program is hung up unless a client attaches.
  var hangupAt: Milliseconds? {
    guard let keep = spec.keep, case .since(let start, _) = alone else { return nil }
    return start &+ min(keep, Self.longestAbsence) * 1000
  }

  private static let longestAbsence: UInt64 = 1 << 40

  /// Follows whether a client is attached, and hangs up where none was for too long.
  func followAbsence(at now: Milliseconds) {
    guard let keep = spec.keep, leaderEnd == nil, alone != .hungUp else {
      askAt = nil
      return
    }
    guard server.machine.attachedCount == 0 else {
      alone = .no
      askForSigns(every: max(1000, min(keep, Self.longestSilence) * 500), at: now)
      return
    }
    askAt = nil
    if alone == .no { alone = .since(now, seconds: Machine.seconds) }
    guard let hangupAt, now >= hangupAt else { return }
    alone = .hungUp
    hangUp(at: now)
  }

  /// In seconds; asked for twice as often.
  private static let longestSilence: UInt64 = 120

  /// Sends something over links that are idle: of one whose other end lost its power the kernel
  /// learns nothing else, and its client would count as attached for good.
  private func askForSigns(every interval: Milliseconds, at now: Milliseconds) {
    if let askAt, now >= askAt {
      server.askForSigns()
      self.askAt = nil
    }
    if askAt == nil { askAt = now + interval }
  }
}
