/// Arguments whose bytes need not be UTF-8, as names of files, in texts: a byte that is part of no
/// character is one of a range that no text uses, as Python has it (PEP 383).
package enum ArgumentBytes {
  /// In plane 16, which is for private use; a byte from 0x80 on is added.
  private static let base: UInt32 = 0x10FE00
  private static let range = (base + 0x80)...(base + 0xFF)

  /// `bytes` as a text; nil where they have a character of that range themselves.
  package static func text(of bytes: [UInt8]) -> String? {
    var text = String.UnicodeScalarView()
    var rest = bytes[...]
    while let first = rest.first {
      let length = (1...4).first { String(validating: rest.prefix($0), as: UTF8.self) != nil }
      let character = length.map { String(decoding: rest.prefix($0), as: UTF8.self) }
      if let scalar = character?.unicodeScalars.first {
        guard !range.contains(scalar.value) else { return nil }
        text.append(scalar)
        rest = rest.dropFirst(UTF8.width(scalar))
      } else if let scalar = Unicode.Scalar(base + UInt32(first)) {
        text.append(scalar)
        rest = rest.dropFirst()
      }
    }
    return String(text)
  }

  /// The bytes that such a text stands for.
  package static func bytes(of text: String) -> [UInt8] {
    text.unicodeScalars.flatMap { scalar -> [UInt8] in
      range.contains(scalar.value)
        ? [UInt8(scalar.value - base)] : Array(UTF8.encode(scalar) ?? .init())
    }
  }
}
