public import BridgeErrors

/// One step of a recovery, for all observers: banner, JSON lines, logs, counters.
public struct RecoveryEvent: Sendable {
  /// The step, past tense.
  public enum Step: Sendable {
    /// Dial number `number` of this outage began; `isStandby` where the old connection still lives.
    case attempted(number: Int, isStandby: Bool)
    /// The dial reached a phase.
    case entered(ConnectionPhase)
    /// Authenticated and usable, after so many dials and so long: since it was lost, or last heard
    /// where it was suspected before; for a first connection since it was added.
    case recovered(after: Duration, attempts: Int, isFirst: Bool)
    /// A round trip and the time it takes to be trusted again are behind it.
    case becameHealthy
    /// It failed.
    case failed(ConnectionError)
    /// What follows from the failure.
    case classified(RetryClass)
    /// The next attempt comes later; the plan has its time and the number of attempts left.
    case waiting(RecoveryPlan)
    /// A connection it depends on is down; meanwhile there is no attempt and no cost.
    case suspended(by: ConnectionID)
    /// Everything it depends on is back.
    case resumed
    /// The peer has been silent for so long and did not answer a probe yet.
    case suspected(silentFor: Duration)
    /// The peer answered after all.
    case cleared
    /// The connection begun meanwhile takes the place of the lost one, as far as it has come; its
    /// generation is the event's.
    case switched
    /// No further attempt is made until a person requests it.
    case gaveUp(ConnectionError, RecoveryPlan)
    /// This is shown now, new or with a new text.
    case surfaced(PresentedError)
    /// This is not shown any more.
    case withdrawn(PresentedError.ID)
    /// An ended generation did not close its descriptor in time.
    case lingered
    /// It has other settings: its connections were ended, and it is dialed anew.
    case changed
    /// It was closed on purpose.
    case closed
    /// A slow reader lost so many events that stood here.
    case missed(count: Int)

    /// Whether a connection that was up was cut: others on the same way may have been cut without
    /// a sign. Silence, or a dial that failed, says nothing of them that their own probes do not.
    package var isCut: Bool {
      if case .failed(let failure) = self { failure.kind == .linkLost } else { false }
    }
  }

  /// Counts all events of a supervisor, from 1; a reader that lost some sees a gap.
  public var sequence: UInt64
  /// When it happened.
  public var at: Moment
  /// Which connection or operation it is about.
  public var source: String?
  /// Which generation of the connection; nil where it is about none.
  public var generation: Int?
  /// The step.
  public var step: Step

  /// An event.
  public init(
    sequence: UInt64 = 0, at: Moment, source: String? = nil, generation: Int? = nil, step: Step
  ) {
    self.sequence = sequence
    self.at = at
    self.source = source
    self.generation = generation
    self.step = step
  }

  /// The word for the step in JSON lines and logs.
  public var name: String {
    switch step {
    case .attempted: "attempt"
    case .entered: "phase"
    case .recovered: "recovered"
    case .becameHealthy: "healthy"
    case .failed: "failed"
    case .classified: "classified"
    case .waiting: "waiting"
    case .suspended: "suspended"
    case .resumed: "resumed"
    case .suspected: "suspected"
    case .cleared: "cleared"
    case .switched: "switched"
    case .gaveUp: "gaveUp"
    case .surfaced: "surfaced"
    case .withdrawn: "withdrawn"
    case .lingered: "lingered"
    case .changed: "changed"
    case .closed: "closed"
    case .missed: "missed"
    }
  }
}
