import NIOCore

/// One direction of one connection: what waits to be written and what is to be done next. Pure.
struct Lane {
  /// The next action.
  enum Decision {
    case write(Portion)
    case wake(at: Duration)
    /// FIN, after everything before it.
    case finish
    case idle
  }

  /// The limit on waiting bytes; at it the source is no longer read.
  static let capacity = 1 << 20

  private(set) var isFrozen = false
  /// A FIN was decided; bytes that still come are dropped.
  private(set) var isFinished = false
  private(set) var waiting = 0
  private(set) var passed = 0
  private(set) var writes = 0
  private var shapers: [any Shaper] = []
  private var queue = CircularBuffer<Portion>()
  private var end: Duration?
  private var last = Duration.zero
  private var generator: SplitMix64

  init(generator: SplitMix64) { self.generator = generator }

  /// The source has ended.
  var hasEnd: Bool { end != nil }

  /// True when more should be read from the source.
  var hasSpace: Bool { !isFrozen && waiting < Self.capacity }

  mutating func add(_ shaper: any Shaper) { shapers.append(shaper) }

  /// Lifts every shaper; what waits keeps its time.
  mutating func removeShapers() { shapers = [] }

  mutating func freeze() { isFrozen = true }

  mutating func thaw() { isFrozen = false }

  /// Takes bytes from the source.
  mutating func take(_ bytes: ByteBuffer, at now: Duration) {
    guard !isFinished, end == nil else { return }
    var portions = [Portion(bytes, due: now)]
    for index in shapers.indices {
      var shaped: [Portion] = []
      for portion in portions { shaped += shapers[index].shape(portion, generator: &generator) }
      portions = shaped
    }
    for var portion in portions {
      portion.due = max(portion.due, last)
      last = portion.due
      waiting += portion.count
      queue.append(portion)
    }
  }

  /// The source ended, or a fault says it did.
  mutating func takeEnd(at now: Duration) {
    if end == nil { end = max(now, last) }
  }

  /// The next thing to do; call again until it is `wake` or `idle`.
  mutating func next(at now: Duration) -> Decision {
    guard !isFrozen, !isFinished else { return .idle }
    if let portion = queue.first {
      guard portion.due <= now else { return .wake(at: portion.due) }
      queue.removeFirst()
      waiting -= portion.count
      passed += portion.count
      writes += 1
      if portion.ending != nil { drop() }
      return .write(portion)
    }
    guard let end else { return .idle }
    guard end <= now else { return .wake(at: end) }
    drop()
    return .finish
  }

  private mutating func drop() {
    isFinished = true
    queue.removeAll()
    waiting = 0
  }
}
