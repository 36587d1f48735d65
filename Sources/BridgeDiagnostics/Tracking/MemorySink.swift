/// Remembers the newest records.
public actor MemorySink: ErrorSink {
  /// The records, oldest first.
  public private(set) var records: [ErrorData] = []
  /// How many older ones were let go.
  public private(set) var dropped = 0
  private let capacity: Int

  /// A sink for the newest `capacity` records.
  public init(capacity: Int = 256) {
    self.capacity = max(1, capacity)
  }

  /// Remembers one record; the oldest makes room.
  public func record(_ data: ErrorData) {
    if records.count == capacity {
      records.removeFirst()
      dropped += 1
    }
    records.append(data)
  }
}
