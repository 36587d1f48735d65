public import BridgeErrors

/// The actions that the decisions require. One switch executes them.
public enum RecoveryAction: Sendable {
  /// Make the connection of the next generation of this link; report it, or its failure.
  case prepare(ConnectionID)
  /// Let go of what was made, or is being made, for this link.
  case discard(ConnectionID)
  /// Open the connection that was made, as this generation.
  case dial(ConnectionID, generation: Int)
  /// Close this generation; report when its descriptor is closed and its session freed.
  case close(ConnectionID, generation: Int)
  /// This generation is the one in use now: hand it over and watch it.
  case promote(ConnectionID, generation: Int)
  /// Probe this connection now.
  case disturb(ConnectionID)
  /// Fire this timer at that instant, instead of when it was set for before.
  case setTimer(RecoveryTimer, at: Moment)
  /// Do not fire this timer.
  case clearTimer(RecoveryTimer)
  /// No further attempt is made by itself: fail the callers that wait for this connection.
  case giveUp(ConnectionID, AppError)
  /// Every generation of a closed connection is torn down: remove it.
  case retire(ConnectionID)
  /// Send an event to the readers.
  case publish(RecoveryEvent)
}
