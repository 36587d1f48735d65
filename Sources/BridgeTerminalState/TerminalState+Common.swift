// The sequences that most of all output consists of, without a copy of their bytes.
extension TerminalState {
  /// A CSI sequence of at most two numbers, or one that sets the rendition.
  private struct Short {
    var isPrivate = false
    /// -1 for one that is not given.
    var first = -1
    var second = -1
    var count = 1
    var final: UInt8 = 0
    /// The index behind it.
    var end = 0
  }

  private static let longest = 24

  /// Takes a sequence in whose ESC lies at `start`; the index behind it. nil where it is none of
  /// these, or is cut.
  mutating func takeShort(_ bytes: ArraySlice<UInt8>, at start: Int, offset: UInt64) -> Int? {
    guard let short = Self.parse(bytes, at: start) else { return nil }
    switch (short.isPrivate, short.final) {
    case (false, UInt8(ascii: "m")): setRendition(bytes[start..<short.end], short)
    case (false, UInt8(ascii: "K")), (false, UInt8(ascii: "X")): break
    case (false, UInt8(ascii: "A")...UInt8(ascii: "G")), (false, UInt8(ascii: "d")): moved()
    case (false, UInt8(ascii: "H")) where short.count <= 2:
      place(row: short.first, column: short.second)
    case (true, UInt8(ascii: "h")) where short.count == 1 && short.first >= 0,
      (true, UInt8(ascii: "l")) where short.count == 1 && short.first >= 0:
      sequenceStart = offset
      setPrivate(short.first, short.final == UInt8(ascii: "h"))
    case _: return nil
    }
    return short.end
  }

  private static func parse(_ bytes: ArraySlice<UInt8>, at start: Int) -> Short? {
    var index = start + 2
    let last = min(bytes.endIndex, start + longest)
    guard index < last, bytes[start + 1] == UInt8(ascii: "[") else { return nil }
    var short = Short()
    if bytes[index] == UInt8(ascii: "?") {
      short.isPrivate = true
      index += 1
    }
    var number = -1
    while index < last {
      let byte = bytes[index]
      index += 1
      switch byte {
      case 0x30...0x39: number = min(max(number, 0) * 10 + Int(byte - 0x30), 99_999)
      case 0x3B:
        if short.count == 1 { short.first = number }
        if short.count == 2 { short.second = number }
        short.count += 1
        number = -1
      case 0x40...0x7E:
        if short.count == 1 { short.first = number }
        if short.count == 2 { short.second = number }
        (short.final, short.end) = (byte, index)
        return short
      case _: return nil
      }
    }
    return nil
  }

  private mutating func setRendition(_ bytes: ArraySlice<UInt8>, _ short: Short) {
    if short.first <= 0, !modes.rendition.isEmpty {
      modes.rendition.removeAll(keepingCapacity: true)
    }
    guard short.count > 1 || short.first > 0 else { return }
    if modes.rendition.count + bytes.count > Self.renditionLimit {
      modes.rendition.removeAll(keepingCapacity: true)
    }
    modes.rendition += bytes
  }
}
