/// Keeps the newest records in memory.
public actor MemorySink: ErrorSink {
  /// The records, oldest first.
  public private(set) var records: [ErrorData] = []
  /// The number of older ones that were dropped.
  public private(set) var dropped = 0
  private let capacity: Int

  /// A sink for the newest `capacity` records.
  public init(capacity: Int = 256) {
    self.capacity = max(1, capacity)
  }

  /// Records one error; the oldest record is dropped when there is no space left.
  public func record(_ data: ErrorData) {
    if records.count == capacity {
      records.removeFirst()
      dropped += 1
    }
    records.append(data)
  }
}
