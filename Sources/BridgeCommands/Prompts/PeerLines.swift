import BridgeErrors
import BridgeTerminal

/// What a server says during a login, in lines that cannot be taken for our own.
package enum PeerLines {
  /// More lines of one text than these are not shown.
  package static let mostLines = 24

  /// The lines of `text`, escaped and bounded. Each begins with `mark`, also where the terminal of
  /// so many `columns` would have broken it.
  package static func lines(
    of text: String, mark: String, columns: Int? = nil, limit: Int = 1024,
    most mostLines: Int = mostLines
  ) -> [String] {
    let plain = PeerText.escaped(text, limit: limit, layout: .paragraph)
    let space = columns.map { max(16, $0 - 1 - TerminalText.width(of: mark)) } ?? .max
    var lines = plain.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      TerminalText.broken(line.map { $0 == "\t" ? " " : String($0) }.joined(), at: space)
    }
    while lines.count > 1, lines.last?.allSatisfy({ $0 == " " }) == true { lines.removeLast() }
    if lines.count > mostLines { lines = lines.prefix(mostLines - 1) + ["…"] }
    return lines.isEmpty ? [mark] : lines.map { mark + $0 }
  }
}
