/// The text around a key: `-----BEGIN …-----`, headers, base64, `-----END …-----` (RFC 7468; RFC
/// 1421 for headers).
struct KeyArmor {
  /// What stands after BEGIN; empty where nothing of the kind was found.
  let label: String
  /// Whether a header says that the body is encrypted.
  let isEncrypted: Bool
  /// Why it is none, where the label is of no use.
  let problem: KeyFileProblem
  private let base64: [UInt8]?

  init(_ bytes: [UInt8]) throws(KeyFileProblem) {
    let lines = bytes.split(separator: 10).map { Self.trimmed($0) }.filter { !$0.isEmpty }
    guard let first = lines.first else { throw .empty }
    // Parameters or certificates may stand before the key.
    let isKey = { Self.label(of: $0, after: Self.begin).hasSuffix("PRIVATE KEY") }
    let starts = lines.indices.filter { lines[$0].starts(with: Self.begin) }
    guard let start = starts.first(where: { isKey(lines[$0]) }) ?? starts.first else {
      throw Self.kind(of: first)
    }
    let label = Self.label(of: lines[start], after: Self.begin)
    var body = lines[(start + 1)...]
    var isEncrypted = false
    while let line = body.first, line.contains(UInt8(ascii: ":")) {
      isEncrypted = isEncrypted || line.starts(with: "Proc-Type: 4,ENCRYPTED".utf8)
      body = body.dropFirst()
    }
    let end = body.firstIndex { $0.starts(with: Self.end) }
    let isClosed = end.map { Self.label(of: lines[$0], after: Self.end) == label } ?? false
    self.label = label
    self.isEncrypted = isEncrypted
    problem = label.hasSuffix("PUBLIC KEY") ? .publicKey : .notAKey
    base64 = isClosed ? Array(body[..<(end ?? body.startIndex)].joined()) : nil
  }

  /// The decoded body.
  func body() throws(KeyFileProblem) -> [UInt8] {
    guard let bytes = base64.flatMap({ Base64.decode($0) }), !bytes.isEmpty else {
      throw .damaged
    }
    return bytes
  }

  private static let begin = Array("-----BEGIN ".utf8)
  private static let end = Array("-----END ".utf8)

  private static func kind(of line: ArraySlice<UInt8>) -> KeyFileProblem {
    let publics = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-", "---- BEGIN SSH2 PUBLIC KEY"]
    if publics.contains(where: { line.starts(with: $0.utf8) }) { return .publicKey }
    if line.starts(with: "PuTTY-User-Key-File-".utf8) { return .putty }
    return line.starts(with: "SSH PRIVATE KEY FILE FORMAT 1.".utf8) ? .ssh1 : .notAKey
  }

  private static func label(of line: ArraySlice<UInt8>, after mark: [UInt8]) -> String {
    let rest = line.dropFirst(mark.count)
    guard rest.reversed().starts(with: "-----".utf8) else { return "" }
    return String(decoding: rest.dropLast(5), as: UTF8.self)
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = line.drop { $0 == 32 || $0 == 9 || $0 == 13 }
    while let last = line.last, last == 32 || last == 9 || last == 13 { line = line.dropLast() }
    return line
  }
}
