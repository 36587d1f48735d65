/// Text from outside this program (a peer, a file, a library), made safe for a terminal, a log line
/// and JSON: no control character, no bidirectional override, valid UTF-8, bounded.
public enum PeerText {
  /// What becomes of line breaks and tabs.
  public enum Layout: Sendable {
    /// Line breaks and tabs become spaces; the result is one line.
    case line
    /// Line feeds and tabs stay.
    case paragraph
  }

  /// What is shown of a peer's text at most, in bytes.
  public static let limit = 4096

  private static let ellipsis = "…"

  /// `text` with every control, format and private-use character written as `\xNN` or `\u{…}`.
  ///
  /// The result has at most `limit` bytes of UTF-8 and ends with an ellipsis where something was
  /// cut off. Escaping what is escaped changes nothing.
  public static func escaped(
    _ text: some StringProtocol, limit: Int = limit, layout: Layout = .line
  ) -> String {
    isPlain(text.utf8, limit: limit)
      ? String(text) : escaped(scalars: text.unicodeScalars, isCut: false, limit, layout)
  }

  /// `bytes` as UTF-8 with U+FFFD in place of what is none, then escaped and bounded likewise.
  public static func escaped(
    _ bytes: some Collection<UInt8>, limit: Int = limit, layout: Layout = .line
  ) -> String {
    // Four bytes more than fit, so that a scalar cut in two lies beyond the limit.
    let head = bytes.prefix(limit + 4)
    let text = String(decoding: head, as: UTF8.self)
    let isCut = head.endIndex != bytes.endIndex
    return !isCut && isPlain(text.utf8, limit: limit)
      ? text : escaped(scalars: text.unicodeScalars, isCut: isCut, limit, layout)
  }

  /// `text` as it is, cut after at most `limit` bytes with an ellipsis.
  public static func cut(_ text: String, limit: Int = limit) -> String {
    guard text.utf8.count > limit else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: limit - ellipsis.utf8.count)
    while end.samePosition(in: text.unicodeScalars) == nil { text.utf8.formIndex(before: &end) }
    return text[..<end] + ellipsis
  }

  /// Whether nothing is to be escaped or cut, and each byte `isFine`: one look at each.
  @inline(__always) static func isPlain(
    _ bytes: some Collection<UInt8>, limit: Int, _ isFine: (UInt8) -> Bool = { _ in true }
  ) -> Bool {
    var count = 0
    for byte in bytes {
      count += 1
      guard count <= limit, byte >= 0x20, byte < 0x7F, isFine(byte) else { return false }
    }
    return true
  }

  private static func escaped(
    scalars: some Collection<Unicode.Scalar>, isCut: Bool, _ limit: Int, _ layout: Layout
  ) -> String {
    var result = ""
    var size = 0
    var spaceForEllipsis = result.endIndex
    var wasReturn = false
    for scalar in scalars {
      // A line feed after a carriage return is the same line break.
      if wasReturn, scalar == "\n" {
        wasReturn = false
        continue
      }
      wasReturn = scalar == "\r"
      let piece = shown(scalar, layout)
      size += piece.utf8.count
      guard size <= limit else { return result[..<spaceForEllipsis] + ellipsis }
      result += piece
      if size <= limit - ellipsis.utf8.count { spaceForEllipsis = result.endIndex }
    }
    return isCut ? result[..<spaceForEllipsis] + ellipsis : result
  }

  private static func shown(_ scalar: Unicode.Scalar, _ layout: Layout) -> String {
    switch scalar.value {
    case 0x20..<0x7F: String(scalar)
    case 0x09: layout == .line ? " " : "\t"
    case 0x0A, 0x0D: layout == .line ? " " : "\n"
    case 0x00...0x0F: "\\x0" + String(scalar.value, radix: 16)
    case 0x10..<0x20, 0x7F..<0xA0: "\\x" + String(scalar.value, radix: 16)
    // The joiners are part of words and emoji.
    case 0x200C, 0x200D: String(scalar)
    default: isVisible(scalar) ? String(scalar) : "\\u{" + String(scalar.value, radix: 16) + "}"
    }
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      false
    default:
      true
    }
  }
}
