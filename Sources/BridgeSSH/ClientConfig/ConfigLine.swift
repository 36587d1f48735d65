/// One line of ssh_config, or one `-o` option: a keyword and what follows it (ssh_config(5)).
struct ConfigLine: Equatable {
  /// The keyword as it is written.
  let name: String
  /// What follows, raw, without the `=`.
  let rest: [UInt8]

  /// The keyword in `line`; nil for an empty line or a comment.
  init?(_ line: Substring) {
    let bytes = Array(line.utf8.drop(while: Self.isBlank))
    guard let first = bytes.first, first != UInt8(ascii: "#") else { return nil }
    let end = bytes.firstIndex { Self.isBlank($0) || $0 == Self.equals } ?? bytes.count
    var rest = bytes[end...].drop(while: Self.isBlank)
    if rest.first == Self.equals { rest = rest.dropFirst().drop(while: Self.isBlank) }
    while let last = rest.last, Self.isBlank(last) { rest = rest.dropLast() }
    name = String(decoding: bytes[..<end], as: UTF8.self)
    self.rest = Array(rest)
  }

  /// The words that follow, quotes and backslashes resolved, a comment left out; nil when a quote
  /// is not closed.
  var words: [String]? {
    var words: [String] = []
    var word: [UInt8] = []
    var isOpen = false
    var quote: UInt8?
    var index = 0
    while index < rest.count {
      let byte = rest[index]
      let next = index + 1 < rest.count ? rest[index + 1] : 0
      index += 1
      if byte == Self.backslash, Self.isEscapable(next, quoted: quote != nil) {
        word.append(next)
        isOpen = true
        index += 1
      } else if let mark = quote {
        if byte == mark { quote = nil } else { word.append(byte) }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
        isOpen = true
      } else if Self.isBlank(byte) {
        if isOpen { words.append(String(decoding: word, as: UTF8.self)) }
        word = []
        isOpen = false
      } else if byte == UInt8(ascii: "#"), !isOpen {
        break
      } else {
        word.append(byte)
        isOpen = true
      }
    }
    if isOpen { words.append(String(decoding: word, as: UTF8.self)) }
    return quote == nil ? words : nil
  }

  private static let equals = UInt8(ascii: "=")
  private static let backslash = UInt8(ascii: "\\")

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 13 || byte == 12
  }

  private static func isEscapable(_ byte: UInt8, quoted: Bool) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == backslash
      || (!quoted && byte == 32)
  }
}
