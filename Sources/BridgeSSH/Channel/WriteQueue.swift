/// The pending writes of a channel, oldest first, with their callers.
///
/// A write that is canceled is taken out; of the oldest one only that part stays which the library
/// has begun to send and must be given again.
package struct WriteQueue<Caller> {
  private struct Entry {
    let id: Int
    var bytes: [UInt8]
    let caller: Caller
    var isCanceled = false
  }

  private var entries: [Entry] = []
  /// How many bytes of the oldest are gone.
  private var written = 0
  /// How many bytes behind those the library holds: the next write must begin with them.
  private var held = 0

  /// How many bytes are to be written.
  package private(set) var count = 0

  /// Creates an empty queue.
  package init() {}

  /// Whether there is nothing to write.
  package var isEmpty: Bool { entries.isEmpty }

  /// The next write: `bytes` from `start` on.
  package var next: (bytes: [UInt8], start: Int)? {
    entries.first.map { ($0.bytes, written) }
  }

  /// The callers of all writes that were not canceled, oldest first.
  package var callers: [(id: Int, caller: Caller)] {
    entries.lazy.filter { !$0.isCanceled }.map { ($0.id, $0.caller) }
  }

  /// Adds `bytes`, at least one.
  package mutating func append(_ bytes: [UInt8], id: Int, caller: Caller) {
    entries.append(Entry(id: id, bytes: bytes, caller: caller))
    count += bytes.count
  }

  /// The library holds the next `count` bytes until it can send them.
  package mutating func hold(_ count: Int) { held = count }

  /// The library has taken the next `count` bytes. Returns the caller of a write that is complete.
  package mutating func advance(by count: Int) -> (id: Int, caller: Caller)? {
    guard let first = entries.first else { return nil }
    written += count
    self.count -= count
    held = 0
    guard first.isCanceled || written >= first.bytes.count else { return nil }
    entries.removeFirst()
    written = 0
    return first.isCanceled ? nil : (first.id, first.caller)
  }

  /// Takes out the write `id`, if it is here.
  package mutating func cancel(_ id: Int) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if index == 0, held > 0 {
      let end = min(entries[0].bytes.count, written + held)
      count -= entries[0].bytes.count - end
      entries[0].bytes.removeSubrange(end...)
      entries[0].isCanceled = true
    } else {
      count -= entries[index].bytes.count - (index == 0 ? written : 0)
      entries.remove(at: index)
      if index == 0 { written = 0 }
    }
  }
}
