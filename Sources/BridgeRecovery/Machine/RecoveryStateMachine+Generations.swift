import BridgeErrors

// What is known of the generations of a link, as long as it is known.
extension RecoveryStateMachine {
  /// Dials in a row that the peer dropped in one phase.
  struct Drops: Sendable, Equatable {
    var phase: ConnectionPhase
    var count: Int
  }

  /// Generations in a row that an application closed with one code right after they came up.
  struct Closes: Sendable, Equatable {
    var code: Int
    var count: Int
  }

  /// The state of the second connection.
  enum Standby: Sendable, Equatable {
    /// Waits for its time. Can become wanted.
    case planned
    /// Waits for its turn to dial, or for the last generation to be torn down. Can become dialing.
    case wanted
    /// It is dialed. Can become up, planned; with the loss of the first it is the one that is
    /// dialed.
    case dialing(generation: Int)
    /// It is ready. Can become planned; with the loss of the first it is the one in use.
    case up(generation: Int)

    /// Its generation, from the dial on.
    var generation: Int? {
      switch self {
      case .planned, .wanted: nil
      case .dialing(let generation), .up(let generation): generation
      }
    }
  }

  /// What is known of a generation in use.
  struct Use: Sendable, Equatable {
    /// Whether the peer is heard.
    enum Contact: Sendable, Equatable {
      /// Heard, or not suspected again, since then. Can become silent.
      case calm(since: Moment)
      /// Suspected: the last sign of life. Can become calm.
      case silent(since: Moment)
    }

    /// When it came into use.
    var since: Moment
    /// Whether a round trip has proven it.
    var isProven = false
    /// Whether it is trusted again: proven, and up for long enough.
    var isHealthy = false
    /// Whether the peer is heard.
    var contact: Contact
    /// The server refused a second connection beside it: none is made again.
    var excludesStandby = false
  }
}
