/// Text that is broken into lines at its spaces.
enum Paragraph {
  /// The lines of `text`, each of at most `width` characters where its words allow; at least one.
  static func lines(of text: String, width: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if last.count + 1 + word.count > width {
        lines.append(String(word))
      } else {
        lines[lines.count - 1] = last + " " + word
      }
    }
    return lines
  }
}
