import BridgeSSH
import BridgeTerminal
import FoundationEssentials

/// In which terminals which sessions were shown, and how far: those lines are above the screen
/// already.
package struct TerminalMemory: Sendable, Equatable {
  /// So many are remembered, the newest.
  package static let limit = 256
  /// A longer file is none of ours, in bytes.
  private static let lengthLimit = 1 << 16

  private struct Entry: Equatable {
    /// The session and the terminal.
    var key: String
    /// The offset below which all output was shown.
    var end: UInt64
  }

  private var entries: [Entry]

  /// Reads the text of a file; lines that are none of ours are left out.
  package init(_ text: String) {
    entries = text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let end = UInt64(words[2]) else { return nil }
      return Entry(key: "\(words[0]) \(words[1])", end: end)
    }.suffix(Self.limit)
  }

  /// The text of the file: a line for each session in each terminal, the newest last.
  package var text: String { entries.map { "\($0.key) \($0.end)\n" }.joined() }

  /// How far the session was shown in this terminal; nil where it was not.
  package func end(of session: String, in terminal: String) -> UInt64? {
    entries.last { $0.key == "\(session) \(terminal)" }?.end
  }

  /// Records that its output below `end` was shown there.
  package mutating func record(_ session: String, to end: UInt64, in terminal: String) {
    let key = "\(session) \(terminal)"
    entries.removeAll { $0.key == key }
    entries.append(Entry(key: key, end: end))
    entries.removeFirst(max(0, entries.count - Self.limit))
  }

  /// The memory at `path`; nothing where that cannot be read.
  package static func read(_ path: String) -> TerminalMemory {
    let content = try? LocalFile.read(path, limit: lengthLimit)
    return TerminalMemory(content?.text ?? "")
  }
}

extension RunContext {
  private var terminalMemoryPath: String {
    StateFile.path("terminals", home: local.home, local.variables)
  }

  /// How far the terminal of this run has shown the session before; nil where it has not.
  func shownEnd(of session: String) -> UInt64? {
    guard local.outputIsTerminal, let terminal = LoginTerminal.identity else { return nil }
    return TerminalMemory.read(terminalMemoryPath).end(of: session, in: terminal)
  }

  /// Records that the terminal of this run has shown the session's output below `end`.
  func rememberShown(_ session: String, to end: UInt64) {
    guard local.outputIsTerminal, let terminal = LoginTerminal.identity else { return }
    var memory = TerminalMemory.read(terminalMemoryPath)
    memory.record(session, to: end, in: terminal)
    StateFile.write(memory.text, to: terminalMemoryPath)
  }
}
