/// One control sequence (ECMA-48): complete, or the beginning of a string that is longer than any
/// that means something here.
struct ControlSequence: Sendable, Equatable {
  let bytes: [UInt8]

  /// The byte after ESC: `[` for CSI, `]` for OSC, `P` for DCS.
  var introducer: UInt8 { bytes.count > 1 ? bytes[1] : 0 }
  var isCSI: Bool { introducer == UInt8(ascii: "[") && bytes.count > 2 }
  var isOSC: Bool { introducer == UInt8(ascii: "]") }
  var isDCS: Bool { introducer == UInt8(ascii: "P") }
  var isAPC: Bool { introducer == UInt8(ascii: "_") }
  var final: UInt8 { bytes.last ?? 0 }

  /// Of CSI: the private marker (`?`, `>`, `=`, `<`) or 0.
  var marker: UInt8 { isCSI && (0x3C...0x3F).contains(bytes[2]) ? bytes[2] : 0 }

  /// Of CSI: the byte before the final one where it is an intermediate, or 0.
  var intermediate: UInt8 {
    guard isCSI, bytes.count > 3 else { return 0 }
    let byte = bytes[bytes.count - 2]
    return (0x20...0x2F).contains(byte) ? byte : 0
  }

  /// Of CSI: the numbers, an empty one as nil; at most 32 of them, and none above 99,999.
  var numbers: [Int?] {
    var numbers: [Int?] = []
    var number: Int?
    for byte in bytes.dropFirst(2) {
      switch byte {
      case 0x30...0x39: number = min((number ?? 0) * 10 + Int(byte - 0x30), 99_999)
      case 0x3B:
        numbers.append(number)
        number = nil
        if numbers.count == 32 { return numbers }
      case _: break
      }
    }
    return numbers + [number]
  }

  /// Of a string: what lies between the introducer and the terminator, if it has one.
  var content: ArraySlice<UInt8> {
    let inner = bytes.dropFirst(2)
    if inner.last == 0x07, isOSC { return inner.dropLast() }
    return inner.suffix(2) == [0x1B, UInt8(ascii: "\\")] ? inner.dropLast(2) : inner
  }

  /// Its bytes; of a string that another sequence ended with a terminator, so that it can be
  /// written before anything else.
  var terminated: [UInt8] {
    let isString = "]PX^_".utf8.contains(introducer)
    return isString && content.endIndex == bytes.endIndex
      ? bytes + [0x1B, UInt8(ascii: "\\")] : bytes
  }

  /// Of OSC: the number before the first semicolon, and what follows it.
  var command: (number: Int, rest: ArraySlice<UInt8>)? {
    guard isOSC else { return nil }
    let digits = content.prefix { (0x30...0x39).contains($0) }
    guard !digits.isEmpty, digits.count <= 5 else { return nil }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    let rest = content.dropFirst(digits.count)
    guard let next = rest.first else { return (number, rest) }
    return next == UInt8(ascii: ";") ? (number, rest.dropFirst()) : nil
  }
}
