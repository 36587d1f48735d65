import BridgeWaiting
import Glibc

/// One question on the process's own terminal, wherever its standard streams lead.
package enum TerminalPrompt {
  /// The longest answer, in bytes: a terminal's line is no longer (termios(3), canonical mode).
  private static let limit = 4096

  private struct Question {
    let text: [UInt8]
    let terminal: Int32
  }

  /// The prompt that is not answered yet.
  private static let pending = Mutex(Question?.none)

  /// The answer without its line feed; nil when there is no terminal, the input ended, or the task
  /// was canceled. The terminal is as it was after it. In the background it waits to be in the
  /// foreground, stopped where that is possible.
  package static func ask(_ question: String, isEchoed: Bool) async -> [UInt8]? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    guard await JobControl.untilForeground(on: terminal) else {
      close(terminal)
      return nil
    }
    let before = TerminalModes.current
    TerminalModes.set(isEchoed ? .line : .hidden, on: terminal)
    // What was typed before the question is no answer to it.
    tcflush(terminal, TCIFLUSH)
    let text = Array(question.utf8)
    _ = DescriptorWriter.writeAll(text, to: terminal)
    pending.withLock { $0 = Question(text: text, terminal: terminal) }
    let reader = DescriptorReader(terminal, size: limit, ownsDescriptor: true)
    let line = await line(from: reader)
    pending.withLock { $0 = nil }
    // What was typed of an answer goes nowhere else, and what is said next is on a line of its own.
    if line == nil, JobControl.isForeground(on: terminal) {
      tcflush(terminal, TCIFLUSH)
      _ = DescriptorWriter.writeAll(Array("\r\n".utf8), to: terminal)
    }
    if let before {
      TerminalModes.set(before, on: terminal)
    } else {
      TerminalModes.restore(isAnswered: line != nil)
    }
    reader.stop()
    return line
  }

  /// Writes the pending question once more: this process was stopped, and others have written to
  /// the terminal. What was typed of the answer is discarded.
  package static func askAgain() {
    pending.withLock { pending in
      guard let pending, JobControl.isForeground(on: pending.terminal) else { return }
      tcflush(pending.terminal, TCIFLUSH)
      _ = DescriptorWriter.writeAll(pending.text, to: pending.terminal)
    }
  }

  /// Bytes up to a line feed or the end; nil where the end comes first, or the task was canceled.
  private static func line(from reader: DescriptorReader) async -> [UInt8]? {
    var line: [UInt8] = []
    while line.count <= limit {
      switch await reader.read() {
      case .bytes(let bytes): line += bytes
      case .end: return line.isEmpty ? nil : line
      case .cancelled: return nil
      }
      if let end = line.firstIndex(of: 10) {
        line.removeSubrange(end...)
        if line.last == 13 { line.removeLast() }
        return line
      }
    }
    return nil
  }
}
