/// The kind of key in an unencrypted PKCS #8 structure.
enum PKCS8 {
  static func kind(_ bytes: [UInt8]) throws(KeyFileProblem) -> PrivateKeyInfo.Kind {
    var outer = DERReader(bytes)
    guard let info = outer.value(tag: DERReader.sequence) else { throw .damaged }
    var reader = DERReader(info)
    guard reader.value(tag: DERReader.integer) != nil,
      let algorithm = reader.value(tag: DERReader.sequence)
    else { throw .damaged }
    var identifier = DERReader(algorithm)
    guard let name = identifier.value(tag: DERReader.objectIdentifier),
      reader.value(tag: DERReader.octets) != nil
    else { throw .damaged }
    switch name {
    case [0x2b, 0x65, 0x70]: return .ed25519  // 1.3.101.112, RFC 8410
    case [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]: return .ecdsa  // RFC 5480
    case [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]: return .rsa  // RFC 8017
    case [0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01]: return .dsa  // RFC 3279
    default: return .other("unknown")
    }
  }
}

/// Reads tag, length and value (X.690) from untrusted bytes.
struct DERReader {
  static let integer: UInt8 = 0x02
  static let octets: UInt8 = 0x04
  static let objectIdentifier: UInt8 = 0x06
  static let sequence: UInt8 = 0x30

  private var reader: WireReader

  init(_ bytes: [UInt8]) {
    reader = WireReader(bytes)
  }

  /// Whether a whole sequence and nothing else is left.
  var isSequence: Bool {
    var copy = self
    return copy.value(tag: Self.sequence) != nil && copy.reader.remaining == 0
  }

  /// The value of the next element if it has `tag` and is whole.
  mutating func value(tag: UInt8) -> [UInt8]? {
    guard reader.byte() == tag, let first = reader.byte() else { return nil }
    guard first >= 0x80 else { return reader.take(Int(first)) }
    let count = Int(first & 0x7f)
    guard (1...3).contains(count), let digits = reader.take(count) else { return nil }
    return reader.take(digits.reduce(0) { $0 << 8 | Int($1) })
  }
}
