/// Text that someone else wrote (a peer, a file), made safe for terminal, log and JSON.
package enum PeerText {
  /// What is shown of a peer's text at most, in bytes.
  package static let limit = 4096

  /// `text` with every control, format and line-breaking character as `\xNN` or `\u{…}`, cut
  /// after `limit` bytes with an ellipsis. Escaping what is escaped already changes nothing.
  package static func escaped(_ text: some StringProtocol, limit: Int = limit) -> String {
    var result = ""
    var size = 0
    for scalar in text.unicodeScalars {
      let piece = shown(scalar)
      size += piece.utf8.count
      guard size <= limit else { return result + "…" }
      result += piece
    }
    return result
  }

  /// `bytes`, repaired to UTF-8, then escaped and bounded likewise.
  package static func escaped(_ bytes: some Collection<UInt8>, limit: Int = limit) -> String {
    escaped(String(decoding: bytes.prefix(limit + 4), as: UTF8.self), limit: limit)
  }

  private static func shown(_ scalar: Unicode.Scalar) -> String {
    switch scalar.properties.generalCategory {
    case .control where scalar.value < 256:
      let digits = String(scalar.value, radix: 16)
      return "\\x" + (digits.count < 2 ? "0" : "") + digits
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      return "\\u{" + String(scalar.value, radix: 16) + "}"
    default:
      return String(scalar)
    }
  }
}
