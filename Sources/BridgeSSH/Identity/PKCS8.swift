/// The kind of key in an unencrypted PKCS #8 structure.
enum PKCS8 {
  static func kind(_ bytes: Span<UInt8>) throws(KeyFileProblem) -> PrivateKeyInfo.Kind {
    var outer = DERCursor(0..<bytes.count)
    guard let info = outer.value(tag: DERCursor.sequence, in: bytes) else { throw .damaged }
    var cursor = DERCursor(info)
    guard cursor.value(tag: DERCursor.integer, in: bytes) != nil,
      let algorithm = cursor.value(tag: DERCursor.sequence, in: bytes)
    else { throw .damaged }
    var identifier = DERCursor(algorithm)
    guard let name = identifier.value(tag: DERCursor.objectIdentifier, in: bytes),
      cursor.value(tag: DERCursor.octets, in: bytes) != nil
    else { throw .damaged }
    switch bytes.bytes(name) {
    case [0x2b, 0x65, 0x70]: return .ed25519  // 1.3.101.112, RFC 8410
    case [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]: return .ecdsa  // RFC 5480
    case [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]: return .rsa  // RFC 8017
    case [0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01]: return .dsa  // RFC 3279
    default: return .other("unknown")
    }
  }
}

/// Finds tag, length and value (X.690) in untrusted bytes, and copies none of them.
struct DERCursor {
  static let integer: UInt8 = 0x02
  static let octets: UInt8 = 0x04
  static let objectIdentifier: UInt8 = 0x06
  static let sequence: UInt8 = 0x30

  private var cursor: SpanCursor

  init(_ range: Range<Int>) {
    cursor = SpanCursor(range)
  }

  /// Whether `bytes` are a whole sequence and nothing else.
  static func isSequence(_ bytes: Span<UInt8>) -> Bool {
    var reader = Self(0..<bytes.count)
    return reader.value(tag: sequence, in: bytes) != nil && reader.cursor.left.isEmpty
  }

  /// Where the value of the next element stands, if it has `tag` and is whole.
  mutating func value(tag: UInt8, in bytes: Span<UInt8>) -> Range<Int>? {
    guard cursor.byte(in: bytes) == tag, let first = cursor.byte(in: bytes) else { return nil }
    guard first >= 0x80 else { return cursor.take(Int(first)) }
    let count = Int(first & 0x7f)
    guard (1...3).contains(count), let digits = cursor.take(count) else { return nil }
    var length = 0
    for index in digits { length = length << 8 | Int(bytes[index]) }
    return cursor.take(length)
  }
}
