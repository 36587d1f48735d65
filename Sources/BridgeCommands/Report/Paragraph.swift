import BridgeErrors
import BridgeTerminal

/// Text that is broken into lines between its words. A word that is longer than a line stays whole,
/// and so does a command in backticks: what is to be copied is in one piece.
package enum Paragraph {
  /// The lines of `text`, each of at most `width` cells where its words allow, and the first one of
  /// at most `first`; at least one.
  package static func lines(of text: String, width: Int, first: Int? = nil) -> [String] {
    var lines = [""]
    var used = 0
    for word in words(of: text) {
      let cells = TerminalText.width(of: word)
      let limit = lines.count == 1 ? first ?? width : width
      if used > 0, used + 1 + cells > limit {
        lines.append(String(word))
        used = cells
      } else {
        lines[lines.count - 1] += (used > 0 ? " " : "") + word
        used += (used > 0 ? 1 : 0) + cells
      }
    }
    return lines
  }

  /// A line of our own as it goes on a terminal of `columns`: what does not fit goes on in lines
  /// under it, which are indented. A line that is a command stays one.
  package static func wrapped(_ line: String, at columns: Int) -> [String] {
    guard TerminalText.width(of: line) > columns, !line.hasPrefix(TerminalBanner.commandIndent)
    else { return [line] }
    let indent = String(line.prefix { $0 == " " })
    let width = max(narrowest, columns - hanging.count)
    let pieces = lines(of: line, width: width, first: max(narrowest, columns - indent.count))
    return pieces.enumerated().map { ($0 == 0 ? indent : hanging) + $1 }
  }

  private static let hanging = "  "
  /// On a terminal that is narrower, lines are as long as here.
  private static let narrowest = 16

  /// The words of `text`; those of a command in backticks are one.
  private static func words(of text: String) -> [Substring] {
    var words: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    for index in text.indices {
      if text[index] == "`" { isQuoted.toggle() }
      guard text[index] == " ", !isQuoted else { continue }
      if start < index { words.append(text[start..<index]) }
      start = text.index(after: index)
    }
    if start < text.endIndex { words.append(text[start...]) }
    // A backtick without its other half begins no command.
    return isQuoted ? text.split(separator: " ") : words
  }
}
