/// The next of many deadlines, each known by a key: setting, clearing and taking cost O(log n).
///
/// A binary heap with entries that outlive their deadline until they surface; they are at most as
/// many as the live ones plus a few.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var at: Moment
    var stamp: UInt64
    var key: Key
  }

  private var heap: [Entry] = []
  private var live: [Key: (at: Moment, stamp: UInt64)] = [:]
  private var stamps: UInt64 = 0

  /// An empty queue.
  public init() {}

  /// How many keys have a deadline.
  public var count: Int { live.count }

  /// The earliest deadline.
  public var next: Moment? { heap.first?.at }

  /// When `key` is due.
  public subscript(key: Key) -> Moment? { live[key]?.at }

  /// Makes `key` due at `at`, instead of when it was due before.
  public mutating func set(_ key: Key, at: Moment) {
    stamps += 1
    live[key] = (at, stamps)
    heap.append(Entry(at: at, stamp: stamps, key: key))
    siftUp(heap.count - 1)
    tidy()
  }

  /// `key` is not due any more.
  public mutating func clear(_ key: Key) {
    guard live.removeValue(forKey: key) != nil else { return }
    tidy()
  }

  /// Takes the earliest key that is due at `now`: in order of deadline, then of setting.
  public mutating func popDue(at now: Moment) -> Key? {
    guard let first = heap.first, first.at <= now else { return nil }
    removeFirst()
    live[first.key] = nil
    tidy()
    return first.key
  }

  private mutating func tidy() {
    if heap.count > 2 * live.count + 16 {
      heap = live.map { Entry(at: $0.value.at, stamp: $0.value.stamp, key: $0.key) }
      heap.sort(by: Self.isEarlier)
    }
    while let first = heap.first, live[first.key]?.stamp != first.stamp { removeFirst() }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown()
  }

  private static func isEarlier(_ one: Entry, _ other: Entry) -> Bool {
    one.at == other.at ? one.stamp < other.stamp : one.at < other.at
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0, case let parent = (child - 1) / 2, Self.isEarlier(heap[child], heap[parent]) {
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && Self.isEarlier(heap[child], heap[least]) {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
