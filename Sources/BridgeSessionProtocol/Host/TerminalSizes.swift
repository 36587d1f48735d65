/// Sizes of a terminal in their places in the output, for a reader that has not come there yet.
package struct TerminalSizes: Sendable {
  private var changes: [(offset: UInt64, size: WindowSize)] = []
  private let limit: Int

  /// None yet. Of more than `limit` the one before the last is dropped: a person drags a window,
  /// the reader is far behind.
  package init(limit: Int = 64) { self.limit = limit }

  /// The offset of the next one.
  package var next: UInt64? { changes.first?.offset }

  /// Adds the size from `offset` on; the last one of an offset counts.
  package mutating func append(_ size: WindowSize, at offset: UInt64) {
    if changes.last?.offset == offset || changes.count == limit { changes.removeLast() }
    changes.append((offset, size))
  }

  /// The size at `offset`, for a reader that has come there; nil where it was taken.
  package mutating func take(at offset: UInt64) -> WindowSize? {
    let past = changes.prefix { $0.offset <= offset }
    changes.removeFirst(past.count)
    return past.last?.size
  }
}
