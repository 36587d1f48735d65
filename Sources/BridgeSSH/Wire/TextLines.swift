/// Lines and words of SSH's text files, cut at bytes: what Unicode calls a newline or a space is
/// none in these files, and line numbers agree with other programs.
enum TextLines {
  /// The lines of `text` without their newlines (a carriage return stays).
  static func split(_ text: String) -> [Substring] {
    text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { Substring($0) }
  }

  /// The words of `line`, between spaces, tabs and carriage returns.
  static func words(_ line: Substring) -> [Substring] {
    line.utf8.split { $0 == 32 || $0 == 9 || $0 == 13 }.map { Substring($0) }
  }
}
