import BridgeSSH
import BridgeTerminal
import FoundationEssentials

/// In which terminals which sessions were shown: their lines above the screen are there already.
package struct TerminalMemory: Sendable, Equatable {
  /// So many are remembered, the newest.
  package static let limit = 256
  /// A longer file is none of ours, in bytes.
  private static let lengthLimit = 1 << 16

  private var entries: [String]

  /// Reads the text of a file; lines that are none of ours are left out.
  package init(_ text: String) {
    entries = text.split(separator: "\n").map(String.init)
      .filter { $0.split(separator: " ").count == 2 }.suffix(Self.limit)
  }

  /// The text of the file: a line for each session in each terminal, the newest last.
  package var text: String { entries.map { $0 + "\n" }.joined() }

  /// Whether the session was shown in this terminal.
  package func has(_ session: String, in terminal: String) -> Bool {
    entries.contains("\(session) \(terminal)")
  }

  /// Records that it is shown there.
  package mutating func record(_ session: String, in terminal: String) {
    let entry = "\(session) \(terminal)"
    entries.removeAll { $0 == entry }
    entries.append(entry)
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

  /// Whether the terminal of this run has shown the session before.
  func hasShown(_ session: String) -> Bool {
    guard local.outputIsTerminal, let terminal = LoginTerminal.identity else { return false }
    return TerminalMemory.read(terminalMemoryPath).has(session, in: terminal)
  }

  /// Records that the terminal of this run shows the session.
  func rememberShown(_ session: String) {
    guard local.outputIsTerminal, let terminal = LoginTerminal.identity else { return }
    var memory = TerminalMemory.read(terminalMemoryPath)
    memory.record(session, in: terminal)
    StateFile.write(memory.text, to: terminalMemoryPath)
  }
}
