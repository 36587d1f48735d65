import BridgeTerminal
import BridgeWaiting

/// JSON lines on one descriptor. A reader that stalls loses events, but not their number: the next
/// line that has space comes after a `missed` line.
package final class EventLines: Sendable {
  private let writer: DescriptorWriter
  private let missed = Mutex(0)

  /// Lines on `writer`, which others may use too.
  init(_ writer: DescriptorWriter) { self.writer = writer }

  /// Lines on `descriptor`, which stays open after it.
  package convenience init(descriptor: Int32) { self.init(DescriptorWriter(descriptor)) }

  /// Queues `line` and does not wait; counts it where it has no space. A final one, of which a run
  /// has only a few, always has.
  package func post(_ line: JSONLine, isFinal: Bool = false) {
    missed.withLock { missed in
      let isQueued = writer.post(text(of: line, after: missed), isUnbounded: isFinal)
      missed = isQueued ? 0 : missed + 1
    }
  }

  /// Writes `line` and waits until it is written.
  func write(_ line: JSONLine) async -> DescriptorWriter.Outcome {
    let bytes = missed.withLock { missed in
      defer { missed = 0 }
      return Array(text(of: line, after: missed).utf8)
    }
    return await writer.write(bytes)
  }

  /// Waits until all that was queued is written.
  package func drain() async { await writer.drain() }

  private func text(of line: JSONLine, after missed: Int) -> String {
    guard missed > 0 else { return line.text + "\n" }
    return CommandEvent.missed(count: missed).line.text + "\n" + line.text + "\n"
  }
}
