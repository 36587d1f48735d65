/// One event of the page.
struct ConsoleEvent: Sendable, Equatable {
  var number: UInt64
  var name: String
  /// JSON, in one line.
  var data: String
}

/// The newest events; the oldest make way. Readers remember where they are.
struct EventHistory: Sendable {
  /// What a reader gets.
  enum Reading: Sendable, Equatable {
    /// Those that follow; none where it has them all.
    case events([ConsoleEvent])
    /// It was away for too long: so many are gone.
    case missed(Int)
  }

  private let limit: Int
  private let byteLimit: Int
  private var events: ArraySlice<ConsoleEvent> = []
  private(set) var bytes = 0
  /// The number of the last event; 0 before any.
  private(set) var last: UInt64 = 0

  init(limit: Int, byteLimit: Int) {
    (self.limit, self.byteLimit) = (max(1, limit), byteLimit)
  }

  var count: Int { events.count }

  mutating func append(_ name: String, _ data: String) {
    last += 1
    events.append(ConsoleEvent(number: last, name: name, data: data))
    bytes += data.utf8.count
    while events.count > limit || bytes > byteLimit, let oldest = events.popFirst() {
      bytes -= oldest.data.utf8.count
    }
    // A slice keeps what it was cut from.
    if events.startIndex > 2 * limit { events = ArraySlice(Array(events)) }
  }

  /// What follows an event, in at most `size` bytes, but one event at least.
  func read(after number: UInt64, size: Int) -> Reading {
    let first = last - UInt64(events.count) + 1
    guard number <= last else { return .missed(0) }
    guard number + 1 >= first else { return .missed(Int(last - number)) }
    var (taken, bytes): ([ConsoleEvent], Int) = ([], 0)
    for event in events[(events.startIndex + Int(number + 1 - first))...] {
      bytes += event.data.utf8.count
      if !taken.isEmpty, bytes > size { break }
      taken.append(event)
    }
    return .events(taken)
  }
}
