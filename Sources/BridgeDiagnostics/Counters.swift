public import BridgeErrors

/// Counts for a whole process.
public actor Counters {
  /// What was counted so far.
  public private(set) var values = CounterValues()

  /// Counters at zero.
  public init() {}

  /// Counts an error by type and severity; a cancellation is none.
  public func count(_ error: any Error) { values.count(error) }

  /// Counts a step of an API client.
  public func count(_ event: APIEvent) { values.count(event) }

  /// Counts an operation that is tried again.
  public func countRetry() { values.retries += 1 }

  /// Counts a connection that is dialed again.
  public func countReconnect() { values.reconnects += 1 }

  /// Counts errors that a full queue dropped.
  public func countQueueDrops(_ number: Int = 1) { values.queueDrops += number }
}
