/// The parts of a CSI sequence.
struct SequenceParameters: Sendable {
  /// `?`, `>`, `=`, `<`, or 0.
  private(set) var marker: UInt8 = 0
  /// The last intermediate byte, or 0.
  private(set) var intermediate: UInt8 = 0
  private(set) var final: UInt8 = 0
  /// -1 for one that is not given.
  private var values: [Int32] = []
  /// A bit for each value that stands behind a colon.
  private var subvalues: UInt32 = 0

  /// More are not used, as in xterm.
  private static let limit = 32
  /// Longer sequences take the way of those that are cut.
  private static let longest = 256

  var count: Int { values.count }
  var hasSubvalues: Bool { subvalues != 0 }

  /// A value; nil where it is not given.
  subscript(index: Int) -> Int? {
    guard index < values.count, values[index] >= 0 else { return nil }
    return Int(values[index])
  }

  /// A value that counts from 1: what is not given, or 0, is 1.
  func positive(_ index: Int) -> Int { max(self[index] ?? 1, 1) }

  /// The index behind a value and those that colons join to it.
  func endOfGroup(at index: Int) -> Int {
    var end = index + 1
    while end < values.count, subvalues >> UInt32(end) & 1 == 1 { end += 1 }
    return end
  }

  /// Reads the sequence whose ESC lies at `start`. Returns the index behind it; nil where it has
  /// not ended, is too long, or has other controls in it.
  mutating func read(_ bytes: ArraySlice<UInt8>, at start: Int) -> Int? {
    (marker, intermediate, final, subvalues) = (0, 0, 0, 0)
    values.removeAll(keepingCapacity: true)
    let end = min(bytes.endIndex, start + Self.longest)
    var index = start + 2
    guard index < end, bytes[start + 1] == UInt8(ascii: "[") else { return nil }
    if (0x3C...0x3F).contains(bytes[index]) {
      marker = bytes[index]
      index += 1
    }
    var number: Int32 = -1
    var isSubvalue = false
    while index < end {
      let byte = bytes[index]
      index += 1
      switch byte {
      case 0x30...0x39: number = min(max(number, 0) * 10 + Int32(byte & 0x0F), 99_999)
      case 0x3A, 0x3B:
        add(number, isSubvalue)
        (number, isSubvalue) = (-1, byte == 0x3A)
      case 0x40...0x7E:
        if number >= 0 || !values.isEmpty || isSubvalue { add(number, isSubvalue) }
        final = byte
        return index
      case 0x20...0x2F: intermediate = byte
      // Not valid here: the sequence means nothing.
      case 0x3C...0x3F: intermediate = 0xFF
      case _: return nil
      }
    }
    return nil
  }

  private mutating func add(_ number: Int32, _ isSubvalue: Bool) {
    guard values.count < Self.limit else { return }
    if isSubvalue { subvalues |= 1 << UInt32(values.count) }
    values.append(number)
  }
}
