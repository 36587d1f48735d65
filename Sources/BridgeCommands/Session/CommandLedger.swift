/// How far a plain shell or command has come over all generations of its link. It holds the rule
/// that a command runs at most once, unless it may run again.
package struct CommandLedger: Sendable, Equatable {
  /// Where it is.
  package enum Phase: Sendable, Equatable {
    /// No server has it.
    case unsent
    /// It is being sent, or was: the server may have it.
    case sent
    /// The server has started it.
    case started
    /// It may have run, and how it ended is not known.
    case outcomeUnknown
    /// The run needs no more of it.
    case over
  }

  /// What is known of a command that was lost.
  package enum Loss: Sendable, Equatable {
    /// The server never had it.
    case notSent
    /// It may have run.
    case mayHaveRun
  }

  /// What follows from a loss.
  package enum Consequence: Sendable, Equatable {
    /// The next generation runs it.
    case continues
    /// It did not run, or another run would be wanted, and no generation follows: the run ends with
    /// what ended the link.
    case ends
    /// It may have run: the run ends with an unknown outcome.
    case endsUnknown
  }

  /// Where it is.
  package private(set) var phase = Phase.unsent
  /// Whether any generation started it, or may have.
  package private(set) var wasStarted = false
  /// Whether no generation follows.
  private var isLast = false

  /// One that was not sent yet.
  package init() {}

  /// A generation sends it; returns whether it may: not while another one has it.
  package mutating func send() -> Bool {
    guard phase == .unsent else { return false }
    phase = .sent
    return true
  }

  /// The server started it; returns whether it runs for another time.
  package mutating func start() -> Bool {
    if phase != .over { phase = .started }
    defer { wasStarted = true }
    return wasStarted
  }

  /// It is lost with its generation.
  ///
  /// - Parameter mayRunAgain: whether another run is what the user wants and has all of its input.
  package mutating func lose(_ loss: Loss, mayRunAgain: Bool) -> Consequence {
    if loss == .mayHaveRun { wasStarted = true }
    guard phase != .over else { return .continues }
    switch loss {
    case .notSent:
      phase = .unsent
      return isLast ? .ends : .continues
    case .mayHaveRun where mayRunAgain:
      phase = .unsent
      return isLast ? .ends : .continues
    case .mayHaveRun:
      phase = .outcomeUnknown
      return .endsUnknown
    }
  }

  /// No generation follows; returns whether the run ends now. What is out is waited for: its output
  /// and its status may be here, and what loses it says whether it ran.
  package mutating func giveUp() -> Bool {
    isLast = true
    switch phase {
    case .unsent: return true
    case .sent, .started, .outcomeUnknown, .over: return false
    }
  }

  /// Its end is known, or the run has ended.
  package mutating func end() { phase = .over }
}
