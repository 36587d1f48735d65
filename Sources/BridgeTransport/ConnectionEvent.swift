public import BridgeErrors

/// A step in the life of a connection, past tense.
public enum ConnectionEvent: Sendable, Equatable {
  /// A phase was entered.
  case entered(ConnectionPhase)
  /// Authenticated and usable.
  case connected
  /// It ended by itself.
  case failed(ConnectionError)
  /// Descriptor closed, native session freed. The last event.
  case closed
}
