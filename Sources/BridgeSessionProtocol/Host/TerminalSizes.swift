/// Sizes of a terminal in their places in the output, for a reader that has not come there yet.
struct TerminalSizes: Sendable, Equatable {
  private var changes: [(offset: UInt64, size: WindowSize)] = []

  /// Of more than these the oldest are dropped: a person drags a window, the reader is far behind.
  private static let limit = 64

  /// The offset of the next one.
  var next: UInt64? { changes.first?.offset }

  /// Adds the size from `offset` on; the last one of an offset counts.
  mutating func append(_ size: WindowSize, at offset: UInt64) {
    if changes.last?.offset == offset { changes.removeLast() }
    if changes.count == Self.limit { changes.removeFirst() }
    changes.append((offset, size))
  }

  /// The size at `offset`, for a reader that has come there; nil where it was sent.
  mutating func take(at offset: UInt64) -> WindowSize? {
    let past = changes.prefix { $0.offset <= offset }
    changes.removeFirst(past.count)
    return past.last?.size
  }

  static func == (left: Self, right: Self) -> Bool {
    left.changes.elementsEqual(right.changes) { $0 == $1 }
  }
}
