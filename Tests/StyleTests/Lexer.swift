/// One word or one punctuation character of Swift source, with comments and string text gone.
///
/// A string literal is one token `""`; the code inside its interpolations follows as tokens.
struct Token: Equatable {
  var text: String
  /// Counted from 1.
  var line: Int
  /// No white space stands between this token and the one before.
  var isGlued: Bool

  /// A name or keyword as opposed to punctuation or a literal.
  var isWord: Bool { text.utf8.first.map(Lexer.isWordByte) ?? false }
}

/// What the lexer keeps of a source text.
struct Lexed {
  var tokens: [Token] = []
  var comments: [Token] = []
}

/// A small scanner for Swift that knows nested comments, raw and multi-line strings, interpolation
/// and regular expression literals: enough to tell code from text, which is all the rules need.
struct Lexer {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var isGlued = false
  private var result = Lexed()

  static func lex(_ source: String) -> Lexed {
    var lexer = Lexer(bytes: Array(source.utf8))
    lexer.scanCode(insideInterpolation: false)
    return lexer.result
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x24, 0x5F, 0x60, 0x80...: true
    default: false
    }
  }

  private func byte(at offset: Int = 0) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  private func comes(_ text: StaticString, after offset: Int = 0) -> Bool {
    var index = position + offset
    for expected in text.description.utf8 {
      guard index < bytes.count, bytes[index] == expected else { return false }
      index += 1
    }
    return true
  }

  private mutating func skip(_ count: Int = 1) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == Ascii.newline { line += 1 }
      position += 1
    }
  }

  private mutating func append(_ text: String, line: Int) {
    result.tokens.append(Token(text: text, line: line, isGlued: isGlued))
    isGlued = true
  }

  private mutating func scanCode(insideInterpolation: Bool) {
    var depth = 0
    while let next = byte() {
      if insideInterpolation, next == Ascii.close, depth == 0 { return skip() }
      if next == Ascii.open { depth += 1 }
      if next == Ascii.close { depth -= 1 }
      scanToken(next)
    }
  }

  private mutating func scanToken(_ next: UInt8) {
    let hashes = hashCount()
    if next == Ascii.space || next == Ascii.newline || next == Ascii.tab || next == Ascii.return {
      skip()
      isGlued = false
    } else if comes("//") || comes("/*") {
      scanComment()
    } else if byte(at: hashes) == Ascii.quote {
      scanString(hashes: hashes)
    } else if byte(at: hashes) == Ascii.slash, hashes > 0 || opensRegex() {
      scanRegex(hashes: hashes)
    } else if Self.isWordByte(next) {
      let start = position
      while let more = byte(), Self.isWordByte(more) { position += 1 }
      append(String(decoding: bytes[start..<position], as: UTF8.self), line: line)
    } else {
      append(String(decoding: [next], as: UTF8.self), line: line)
      skip()
    }
  }

  private func hashCount(after offset: Int = 0) -> Int {
    var count = 0
    while byte(at: offset + count) == Ascii.hash { count += 1 }
    return count
  }

  private mutating func scanComment() {
    let (start, firstLine) = (position, line)
    if comes("//") {
      while let next = byte(), next != Ascii.newline { position += 1 }
    } else {
      var depth = 0
      repeat {
        if comes("/*") {
          depth += 1
          skip(2)
        } else if comes("*/") {
          depth -= 1
          skip(2)
        } else {
          skip()
        }
      } while depth > 0 && position < bytes.count
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    result.comments.append(Token(text: text, line: firstLine, isGlued: false))
    isGlued = false
  }

  private mutating func scanString(hashes: Int) {
    append("\"\"", line: line)
    skip(hashes)
    let quotes = comes("\"\"\"") ? 3 : 1
    skip(quotes)
    while let next = byte() {
      if next == Ascii.backslash, hashCount(after: 1) >= hashes {
        skip(1 + hashes)
        let opens = byte() == Ascii.open
        skip()
        if opens { scanCode(insideInterpolation: true) }
      } else if next == Ascii.quote, quotes == 1 || comes("\"\"\""),
        hashCount(after: quotes) >= hashes
      {
        return skip(quotes + hashes)
      } else if next == Ascii.newline, quotes == 1 {
        return
      } else {
        skip()
      }
    }
  }

  /// Whether the slash here opens a regular expression: it stands where a value may begin, and
  /// another slash closes it on the same line.
  private func opensRegex() -> Bool {
    let before = result.tokens.last?.text ?? "("
    guard ["(", ",", "=", ":", "[", "{", "return", "in"].contains(before) else { return false }
    guard let first = byte(at: 1), first != Ascii.space, first != Ascii.close else { return false }
    var offset = 1
    while let next = byte(at: offset), next != Ascii.newline {
      if next == Ascii.slash { return true }
      offset += next == Ascii.backslash ? 2 : 1
    }
    return false
  }

  private mutating func scanRegex(hashes: Int) {
    append("\"\"", line: line)
    skip(hashes + 1)
    while let next = byte() {
      if next == Ascii.backslash {
        skip(2)
      } else if next == Ascii.slash, hashCount(after: 1) >= hashes {
        return skip(1 + hashes)
      } else {
        skip()
      }
    }
  }
}

private enum Ascii {
  static let tab: UInt8 = 9
  static let newline: UInt8 = 10
  static let `return`: UInt8 = 13
  static let space: UInt8 = 32
  static let quote: UInt8 = 34
  static let hash: UInt8 = 35
  static let open: UInt8 = 40
  static let close: UInt8 = 41
  static let slash: UInt8 = 47
  static let backslash: UInt8 = 92
}
