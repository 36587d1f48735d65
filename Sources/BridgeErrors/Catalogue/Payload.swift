/// How payloads of errors get into texts.
enum Payload {
  /// As the specification has it, character for character, but without secrets and bounded.
  static func exact(_ text: String) -> String {
    PeerText.cut(Redactor.redacted(head(text)))
  }

  /// Escaped for one line, without secrets.
  static func shown(_ text: String, limit: Int = 1024) -> String {
    PeerText.escaped(Redactor.redacted(head(text)), limit: limit)
  }

  /// The target of a redirect, escaped, without secrets and without its query: what a login hands
  /// over stands there under names that no list is complete of.
  static func address(_ text: String) -> String {
    let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
    return shown(String(text[..<end])) + (end == text.endIndex ? "" : "?…")
  }

  /// As much of a long text as can be shown after redaction, so that a megabyte costs no more. It
  /// ends between words: half of a `user:password@host` would not be recognized.
  private static func head(_ text: String) -> String {
    let limit = 4 * PeerText.limit
    guard text.utf8.count > limit else { return text }
    let head = PeerText.cut(text, limit: limit)
    return head.lastIndex { $0.isWhitespace }.map { String(head[...$0]) } ?? head
  }

  /// Escaped for a hint, and ended with a full stop.
  static func sentence(_ text: String) -> String {
    let shown = shown(text).trimmed
    guard let last = shown.last else { return "no reason was given." }
    return last == "." || last == "!" || last == "?" || last == "…" ? shown : shown + "."
  }

  /// The last component of a path by its text alone: "" → "", "/" → "/", "a/b/" → "b" (G-47).
  static func fileName(_ path: String) -> Substring {
    var rest = Substring(path)
    while rest.count > 1, rest.last == "/" { rest.removeLast() }
    guard rest != "/", let slash = rest.lastIndex(of: "/") else { return rest }
    return rest[rest.index(after: slash)...]
  }

  /// A number of bytes as a person reads it, rounded down: "512 bytes", "1.5 GiB".
  static func size(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
    var tenths = bytes.multipliedReportingOverflow(by: 10).partialValue
    if bytes > Int64.max / 10 { tenths = Int64.max }
    var unit = -1
    while tenths >= 10240, unit < 4 {
      tenths /= 1024
      unit += 1
    }
    return "\(tenths / 10).\(tenths % 10) \(["KiB", "MiB", "GiB", "TiB", "PiB"][unit])"
  }
}
