/// The text around a key: `-----BEGIN …-----`, headers, base64, `-----END …-----` (RFC 7468; RFC
/// 1421 for headers).
///
/// It knows where things stand in the text and keeps nothing of the body, which may be a secret.
struct KeyArmor {
  /// What stands after BEGIN; empty where nothing of the kind was found.
  let label: String
  /// Whether a header says that the body is encrypted.
  let isEncrypted: Bool
  /// Why it is none, where the label is of no use.
  let problem: KeyFileProblem
  /// Where the lines of base64 stand; nil where their end is missing.
  private let body: [Range<Int>]?

  init(_ text: Span<UInt8>) throws(KeyFileProblem) {
    let lines = Self.lines(of: text)
    guard let first = lines.first else { throw .empty }
    guard let start = Self.start(in: lines, of: text) else {
      throw Self.kind(of: first, in: text)
    }
    let label = Self.label(of: lines[start], after: Self.begin, in: text)
    var next = start + 1
    var isEncrypted = false
    while next < lines.count, Self.isHeader(lines[next], in: text) {
      isEncrypted =
        isEncrypted || text.starts(lines[next], with: "Proc-Type: 4,ENCRYPTED".utf8)
      next += 1
    }
    var end = next
    while end < lines.count, !text.starts(lines[end], with: Self.end) { end += 1 }
    let isClosed =
      end < lines.count && Self.label(of: lines[end], after: Self.end, in: text) == label
    self.label = label
    self.isEncrypted = isEncrypted
    problem = label.hasSuffix("PUBLIC KEY") ? .publicKey : .notAKey
    body = isClosed ? Array(lines[next..<end]) : nil
  }

  /// The decoded body, out of the same text.
  func body(in text: Span<UInt8>) throws(KeyFileProblem) -> WipedBytes {
    guard let body, let bytes = Base64.decode(text, at: body), bytes.count > 0 else {
      throw .damaged
    }
    return bytes
  }

  private static let begin = Array("-----BEGIN ".utf8)
  private static let end = Array("-----END ".utf8)

  /// The line at which a key begins; parameters or certificates may stand before it.
  private static func start(in lines: [Range<Int>], of text: Span<UInt8>) -> Int? {
    var first: Int?
    for (index, line) in lines.enumerated() where text.starts(line, with: begin) {
      if label(of: line, after: begin, in: text).hasSuffix("PRIVATE KEY") { return index }
      first = first ?? index
    }
    return first
  }

  private static func isHeader(_ line: Range<Int>, in text: Span<UInt8>) -> Bool {
    for index in line where text[index] == UInt8(ascii: ":") { return true }
    return false
  }

  private static func kind(of line: Range<Int>, in text: Span<UInt8>) -> KeyFileProblem {
    let publics = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-", "---- BEGIN SSH2 PUBLIC KEY"]
    for mark in publics where text.starts(line, with: mark.utf8) { return .publicKey }
    if text.starts(line, with: "PuTTY-User-Key-File-".utf8) { return .putty }
    return text.starts(line, with: "SSH PRIVATE KEY FILE FORMAT 1.".utf8) ? .ssh1 : .notAKey
  }

  private static func label(
    of line: Range<Int>, after mark: [UInt8], in text: Span<UInt8>
  ) -> String {
    let dashes = Array("-----".utf8)
    let rest = line.dropFirst(mark.count)
    guard rest.count >= dashes.count, text.starts(rest.suffix(dashes.count), with: dashes) else {
      return ""
    }
    return String(decoding: text.bytes(rest.dropLast(dashes.count)), as: UTF8.self)
  }

  /// The lines that are not empty, without white space around them.
  private static func lines(of text: Span<UInt8>) -> [Range<Int>] {
    var lines: [Range<Int>] = []
    var start = 0
    for index in 0...text.count where index == text.count || text[index] == 10 {
      let line = trimmed(start..<index, in: text)
      if !line.isEmpty { lines.append(line) }
      start = index + 1
    }
    return lines
  }

  private static func trimmed(_ line: Range<Int>, in text: Span<UInt8>) -> Range<Int> {
    var line = line
    while let first = line.first, isSpace(text[first]) { line = line.dropFirst() }
    while let last = line.last, isSpace(text[last]) { line = line.dropLast() }
    return line
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
}
