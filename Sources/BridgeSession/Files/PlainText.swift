import BridgeFiles
import BridgeSessionProtocol

/// The words of requests to `PlainScript`, and of its answers.
enum PlainText {
  /// A request of one line.
  static func line(_ words: [String]) -> [UInt8] {
    Array((words.joined(separator: " ") + "\n").utf8)
  }

  /// Bytes as `printf %b` reads them: whatever has a meaning for a shell as an octal number.
  static func escaped(_ bytes: [UInt8]) -> String {
    var text = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "/"),
        UInt8(ascii: "_"), UInt8(ascii: "-"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case _:
        let digits = String(byte, radix: 8)
        text += "\\0" + String(repeating: "0", count: 3 - digits.count) + digits
      }
    }
    return text
  }

  /// A path that no tool takes for an option.
  static func path(_ bytes: [UInt8]) -> [UInt8] {
    bytes.first == UInt8(ascii: "/") ? bytes : Array("./".utf8) + bytes
  }

  /// Permission bits for chmod(1).
  static func mode(_ meta: FileMeta) -> String { "0" + String(meta.mode, radix: 8) }

  /// Permission bits of a directory as ls(1) prints them.
  static func letters(_ meta: FileMeta) -> String {
    let bits = zip("rwxrwxrwx", (0..<9).reversed())
    return "d" + bits.map { meta.mode >> UInt32($1) & 1 == 1 ? String($0) : "-" }.joined()
  }

  /// Permission bits as ls(1) prints them, after the letter of the kind; of a directory the sticky
  /// bit, too.
  static func mode(_ letters: some Collection<UInt8>) -> UInt32 {
    let letters = Array(letters.prefix(10))
    let isSticky = letters.last == UInt8(ascii: "t") || letters.last == UInt8(ascii: "T")
    let sticky = isSticky && letters.first == UInt8(ascii: "d") ? FileMeta.sticky : 0
    return letters.dropFirst().reduce(0) { bits, letter in
      // Capital letters are setuid and its like without the right to execute.
      let isSet = letter != UInt8(ascii: "-") && !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= letter)
      return bits << 1 | (isSet ? 1 : 0)
    } | sticky
  }

  /// The 32 bytes of a digest in hexadecimal digits; nil for anything else.
  static func digest(_ text: some StringProtocol) -> [UInt8]? {
    let bytes = Hexadecimal.bytes(text)
    return bytes?.count == 32 ? bytes : nil
  }

  /// Why a request failed: the word of the program, and what a tool printed.
  static func fault(_ words: ArraySlice<Substring>, isTarget: Bool) -> FileFault {
    let word = words.first ?? ""
    let printed = words.dropFirst().joined(separator: " ")
    // dd(1) counts behind its error.
    let said = printed.contains(" records ") ? nil : printed.split(separator: ": ").last
    let text = said.map(String.init) ?? "the host refused it"
    switch word {
    case "space": return FileFault(.noSpace, text)
    case "file": return FileFault(.notDirectory)
    case "directory": return FileFault(.isDirectory)
    case "above": return FileFault(.unwritable, FileReceiver.noDirectory)
    case "mismatch": return FileFault(.mismatch)
    case "taken": return FileFault(.busy)
    case "special": return FileFault(.special)
    case "length": return FileFault(.unreadable, "its length is not known")
    case "denied" where !isTarget: return FileFault(.denied)
    case "missing" where !isTarget: return FileFault(.notFound)
    case _: return FileFault(isTarget ? .unwritable : .unreadable, text)
    }
  }
}

/// What the program has printed and is not read yet.
struct PlainInput: Sendable {
  private var buffer: [UInt8] = []
  private var head = 0
  private static let limit = 16 << 10

  var isEmpty: Bool { head == buffer.count }

  mutating func append(_ bytes: [UInt8]) {
    if isEmpty {
      buffer = bytes
    } else {
      buffer = Array(buffer[head...]) + bytes
    }
    head = 0
  }

  /// What is there, at most so many bytes.
  mutating func bytes(_ limit: Int) -> [UInt8] {
    let end = head + min(limit, buffer.count - head)
    defer { head = end }
    return Array(buffer[head..<end])
  }

  /// The words of the next line; nil until all of it is there.
  mutating func line() throws(ProtocolError) -> [Substring]? {
    guard let bytes = try piece(endedBy: UInt8(ascii: "\n")) else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: " ")
  }

  /// What comes before the next zero byte.
  mutating func text() throws(ProtocolError) -> [UInt8]? { try piece(endedBy: 0) }

  private mutating func piece(endedBy byte: UInt8) throws(ProtocolError) -> [UInt8]? {
    guard let end = buffer[head...].firstIndex(of: byte) else {
      guard buffer.count - head < Self.limit else { throw Self.violation }
      return nil
    }
    defer { head = end + 1 }
    return Array(buffer[head..<end])
  }

  /// An answer that is none.
  static let violation = ProtocolError.malformedFields("an answer of the host's tools")
}
