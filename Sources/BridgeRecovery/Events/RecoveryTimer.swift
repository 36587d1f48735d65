public import BridgeErrors

/// What a timer is for; there is at most one of each.
public enum RecoveryTimer: Hashable, Sendable {
  /// The wait before the next attempt of a connection.
  case retry(ConnectionID)
  /// The wait before the next attempt to make a second connection ready.
  case standby(ConnectionID)
  /// The time after which a connection counts as healthy.
  case health(ConnectionID)
  /// The time limit of an ended generation's teardown.
  case teardown(ConnectionID, generation: Int)
  /// The instant at which a host may be dialed again; named `host:port`.
  case host(String)
  /// The instant at which time changes what is shown.
  case queue
}
