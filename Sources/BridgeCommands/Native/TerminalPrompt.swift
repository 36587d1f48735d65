import Foundation

/// One question on the process's own terminal, wherever its standard streams lead.
enum TerminalPrompt {
  /// The longest answer, in bytes.
  private static let limit = 1024

  /// The answer without its line feed; nil when there is no terminal, the input ended, or the task
  /// was cancelled. The terminal is as it was after it.
  static func ask(_ question: String, isEchoed: Bool) async -> [UInt8]? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    let before = TerminalModes.current
    TerminalModes.set(isEchoed ? .line : .hidden, on: terminal)
    // What was typed before the question is no answer to it.
    tcflush(terminal, TCIFLUSH)
    _ = DescriptorWriter.writeAll(Array(question.utf8), to: terminal)
    let reader = DescriptorReader(terminal, size: limit, ownsDescriptor: true)
    let line = await line(from: reader)
    if let before { TerminalModes.set(before, on: terminal) } else { TerminalModes.restore() }
    reader.stop()
    return line
  }

  /// Bytes up to a line feed or the end; nil where the end comes first, or the task was cancelled.
  static func line(from reader: DescriptorReader) async -> [UInt8]? {
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
