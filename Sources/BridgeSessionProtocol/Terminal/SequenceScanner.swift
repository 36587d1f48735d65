/// Finds control sequences (ECMA-48) in a terminal's output that is cut anywhere.
struct SequenceScanner: Sendable {
  enum Token: Sendable, Equatable {
    /// Bytes that are shown.
    case text(ArraySlice<UInt8>)
    /// One control byte (C0).
    case control(UInt8)
    /// A complete sequence with all its bytes.
    case sequence(ControlSequence)
    /// A sequence that was broken off, or is longer than any that means something here.
    case broken([UInt8])
  }

  private enum State: Sendable, Equatable {
    case ground
    case escape
    case parameters
    /// OSC, DCS, SOS, PM, APC: until BEL (OSC only) or ESC \.
    case string(isOSC: Bool, afterEscape: Bool)
  }

  private var state = State.ground
  private var pending: [UInt8] = []

  /// The longest sequence that is held until it is complete.
  static let limit = 4096
  private static let escape: UInt8 = 0x1B

  /// True between sequences.
  var isGround: Bool { state == .ground }

  /// The bytes of a sequence that has not ended yet.
  var unfinished: [UInt8] { pending }

  /// The tokens that `bytes` complete; the start of a sequence is kept for the next call.
  mutating func scan(_ bytes: ArraySlice<UInt8>, _ body: (Token, Int) -> Void) {
    var position = bytes.startIndex
    while position < bytes.endIndex {
      if state == .ground {
        position = scanGround(bytes, from: position, body)
      } else {
        let byte = bytes[position]
        position += 1
        if let token = step(byte) { body(token, position) }
      }
    }
  }

  private mutating func scanGround(
    _ bytes: ArraySlice<UInt8>, from start: Int, _ body: (Token, Int) -> Void
  ) -> Int {
    var position = start
    while position < bytes.endIndex, bytes[position] >= 0x20 { position += 1 }
    if position > start { body(.text(bytes[start..<position]), position) }
    guard position < bytes.endIndex else { return position }
    let byte = bytes[position]
    position += 1
    if byte == Self.escape {
      pending = [byte]
      state = .escape
    } else {
      body(.control(byte), position)
    }
    return position
  }

  private mutating func step(_ byte: UInt8) -> Token? {
    pending.append(byte)
    // CAN and SUB break a sequence off.
    if byte == 0x18 || byte == 0x1A || pending.count > Self.limit { return breakOff() }
    switch state {
    case .ground: return nil
    case .escape: return stepEscape(byte)
    case .parameters:
      if (0x40...0x7E).contains(byte) { return complete() }
      if byte == Self.escape {
        let token = Token.broken(Array(pending.dropLast()))
        pending = [byte]
        state = .escape
        return token
      }
      return nil
    case .string(let isOSC, let afterEscape): return stepString(byte, isOSC, afterEscape)
    }
  }

  private mutating func stepEscape(_ byte: UInt8) -> Token? {
    switch byte {
    case UInt8(ascii: "["):
      state = .parameters
      return nil
    case UInt8(ascii: "]"):
      state = .string(isOSC: true, afterEscape: false)
      return nil
    case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
      state = .string(isOSC: false, afterEscape: false)
      return nil
    // Intermediate bytes: a final byte follows.
    case 0x20...0x2F: return nil
    case _: return complete()
    }
  }

  private mutating func stepString(_ byte: UInt8, _ isOSC: Bool, _ afterEscape: Bool) -> Token? {
    if isOSC, byte == 0x07 { return complete() }
    if afterEscape, byte == UInt8(ascii: "\\") { return complete() }
    state = .string(isOSC: isOSC, afterEscape: byte == Self.escape)
    return nil
  }

  private mutating func complete() -> Token {
    defer { reset() }
    return .sequence(ControlSequence(bytes: pending))
  }

  private mutating func breakOff() -> Token {
    defer { reset() }
    return .broken(pending)
  }

  private mutating func reset() {
    pending = []
    state = .ground
  }
}

/// One complete control sequence.
struct ControlSequence: Sendable, Equatable {
  let bytes: [UInt8]

  /// The byte after ESC: `[` for CSI, `]` for OSC, `P` for DCS.
  var introducer: UInt8 { bytes.count > 1 ? bytes[1] : 0 }
  var isCSI: Bool { introducer == UInt8(ascii: "[") && bytes.count > 2 }
  var isOSC: Bool { introducer == UInt8(ascii: "]") }
  var isDCS: Bool { introducer == UInt8(ascii: "P") }
  var final: UInt8 { bytes.last ?? 0 }

  /// Of CSI: the private marker (`?`, `>`, `=`, `<`) or 0.
  var marker: UInt8 { isCSI && (0x3C...0x3F).contains(bytes[2]) ? bytes[2] : 0 }

  /// Of CSI: the byte before the final one where it is an intermediate, or 0.
  var intermediate: UInt8 {
    guard isCSI, bytes.count > 3 else { return 0 }
    let byte = bytes[bytes.count - 2]
    return (0x20...0x2F).contains(byte) ? byte : 0
  }

  /// Of CSI: the numbers, an empty one as nil.
  var numbers: [Int?] {
    let parameters = bytes[2...].filter { (0x30...0x3B).contains($0) }
    return parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { Int(String(decoding: $0, as: UTF8.self)) }
  }

  /// Of OSC and DCS: what lies between the introducer and the terminator.
  var content: ArraySlice<UInt8> {
    bytes.dropFirst(2).dropLast(final == 0x07 ? 1 : 2)
  }
}
