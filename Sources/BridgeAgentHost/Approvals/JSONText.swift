import FoundationEssentials

/// Reads a JSON text (RFC 8259) without changing a byte of its parts.
///
/// Values are found and not decoded, so that an id or a parameter is passed on exactly as it was
/// written: a number of twenty digits would not survive a decoder.
struct JSONText: Sendable {
  /// Why a text is no JSON.
  struct Malformed: Error, Hashable {
    /// Where, in bytes.
    var offset: Int
  }

  /// A member of an object.
  struct Member: Sendable {
    var name: String
    var value: ArraySlice<UInt8>
  }

  /// More arrays and objects within each other are refused, as decoders do.
  private static let depth = 256

  private let bytes: ArraySlice<UInt8>
  private var position: Int

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The members of the object that is the whole of `bytes`, in their order.
  static func members(of bytes: ArraySlice<UInt8>) throws(Malformed) -> [Member] {
    var text = Self(bytes)
    var members: [Member] = []
    try text.skip(byte: "{")
    if text.skipped("}") { return try text.finished(members) }
    repeat {
      let name = try text.string()
      try text.skip(byte: ":")
      members.append(Member(name: name, value: try text.value()))
    } while text.skipped(",")
    try text.skip(byte: "}")
    return try text.finished(members)
  }

  /// The elements of the array that is the whole of `bytes`.
  static func elements(of bytes: ArraySlice<UInt8>) throws(Malformed) -> [ArraySlice<UInt8>] {
    var text = Self(bytes)
    var elements: [ArraySlice<UInt8>] = []
    try text.skip(byte: "[")
    if text.skipped("]") { return try text.finished(elements) }
    repeat { elements.append(try text.value()) } while text.skipped(",")
    try text.skip(byte: "]")
    return try text.finished(elements)
  }

  /// Whether the whole of `bytes` is a value that fits in a line.
  static func isValue(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard !bytes.contains(0x0A), !bytes.contains(0x0D) else { return false }
    var text = Self(bytes)
    guard (try? text.value()) != nil else { return false }
    return (try? text.finished(())) != nil
  }

  /// Whether the whole of `bytes` is an id of JSON-RPC 2.0 (4): a string or a number.
  static func isID(_ bytes: ArraySlice<UInt8>) -> Bool {
    isNumber(bytes) || bytes.first == UInt8(ascii: "\"") && isValue(bytes)
  }

  /// The string that is the whole of `bytes`; nil where they are another value.
  static func string(_ bytes: some Collection<UInt8>) -> String? {
    try? JSONDecoder().decode(String.self, from: Data(bytes))
  }

  /// `text` as a JSON string.
  static func quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    guard let data = try? encoder.encode(text) else { return "\"\"" }
    return String(decoding: data, as: UTF8.self)
  }

  /// Whether the whole of `bytes` is a number (RFC 8259, 6).
  static func isNumber(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    func digits() -> Int {
      let count = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let startsWithZero = rest.first == UInt8(ascii: "0")
    let whole = digits()
    guard whole == 1 || whole > 1 && !startsWithZero else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      guard digits() > 0 else { return false }
    }
    guard let sign = rest.first else { return true }
    guard sign == UInt8(ascii: "e") || sign == UInt8(ascii: "E") else { return false }
    rest = rest.dropFirst()
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
      rest = rest.dropFirst()
    }
    return digits() > 0 && rest.isEmpty
  }

  // MARK: Scanning

  private func finished<Result>(_ result: Result) throws(Malformed) -> Result {
    var rest = self
    rest.skipSpace()
    guard rest.position == bytes.endIndex else { throw Malformed(offset: rest.offset) }
    return result
  }

  private var offset: Int { position - bytes.startIndex }
  private var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      position += 1
    }
  }

  private mutating func skipped(_ byte: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func skip(byte: Unicode.Scalar) throws(Malformed) {
    guard skipped(byte) else { throw Malformed(offset: offset) }
  }

  private mutating func string() throws(Malformed) -> String {
    skipSpace()
    let start = position
    try skipString()
    let inside = bytes[start..<position].dropFirst().dropLast()
    let plain =
      inside.contains(UInt8(ascii: "\\")) ? nil : String(validating: inside, as: UTF8.self)
    guard let text = plain ?? Self.string(bytes[start..<position]) else {
      throw Malformed(offset: start - bytes.startIndex)
    }
    return text
  }

  private mutating func skipString() throws(Malformed) {
    try skip(byte: "\"")
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): position = min(position + 1, bytes.endIndex)
      case 0..<0x20: throw Malformed(offset: offset)
      default: continue
      }
    }
    throw Malformed(offset: offset)
  }

  /// Finds the end of a value: brackets match and strings end; the rest is checked by the decoder
  /// of the value that is used.
  private mutating func value() throws(Malformed) -> ArraySlice<UInt8> {
    skipSpace()
    let start = position
    var closers: [UInt8] = []
    repeat {
      guard let byte = next else { throw Malformed(offset: offset) }
      switch byte {
      case UInt8(ascii: "\""): try skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard closers.count < Self.depth else { throw Malformed(offset: offset) }
        closers.append(byte + 2)
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard closers.popLast() == byte else { throw Malformed(offset: offset) }
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
        guard !closers.isEmpty else { throw Malformed(offset: offset) }
        position += 1
      default: try skipWord()
      }
    } while !closers.isEmpty
    return bytes[start..<position]
  }

  /// A number, `true`, `false` or `null`.
  private mutating func skipWord() throws(Malformed) {
    let start = position
    while let byte = next, Self.isWord(byte) { position += 1 }
    let word = bytes[start..<position]
    let isLiteral = { ["true", "false", "null"].contains { word.elementsEqual($0.utf8) } }
    guard Self.isNumber(word) || isLiteral() else {
      throw Malformed(offset: start - bytes.startIndex)
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: ".") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || byte == UInt8(ascii: "E")
  }
}

extension ApprovalRequest {
  /// The agent's id, in one spelling: a string may be written in several.
  var key: String { Self.key(wireID) }

  /// An id of JSON in one spelling.
  static func key(_ id: String) -> String {
    JSONText.string(id.utf8).map(JSONText.quoted) ?? id
  }
}
