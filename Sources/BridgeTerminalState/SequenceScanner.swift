/// Finds control sequences (ECMA-48) in a terminal's output that is cut anywhere.
struct SequenceScanner: Sendable {
  enum Token: Sendable, Equatable {
    /// Bytes that are shown.
    case text(ArraySlice<UInt8>)
    /// One control byte (C0). In a sequence it acts at once, too.
    case control(UInt8)
    /// A sequence with all its bytes. A string that another sequence ends has no terminator.
    case sequence(ControlSequence)
    /// The beginning of a string, or of a sequence with parameters, that is longer than any that
    /// means something here.
    case start(ControlSequence)
    /// More of it.
    case rest(ArraySlice<UInt8>)
    /// Its end.
    case end([UInt8])
    /// A sequence that was broken off, or one that is no string and too long to mean anything.
    case broken([UInt8])
  }

  private enum State: Sendable, Equatable {
    case ground
    case escape
    case parameters
    /// Likewise, of a sequence of which the beginning was handed out.
    case excess
    /// So many bytes are missing of a character that is no ASCII: it breaks a sequence off, and is
    /// not shown.
    case character(missing: Int)
    /// OSC, DCS, SOS, PM, APC: until BEL (OSC only) or ESC \. What is not kept was handed out.
    case string(isOSC: Bool, isKept: Bool)
    /// ESC in a string: its end, whatever follows.
    case stringEscape(isOSC: Bool, isKept: Bool)
  }

  private var state = State.ground
  private var pending: [UInt8] = []

  /// The longest sequence that is held until it is complete.
  static let limit = 4096
  private static let escape: UInt8 = 0x1B

  /// True between sequences.
  var isGround: Bool { state == .ground }

  /// The bytes of a sequence that has not ended yet, but those that were handed out.
  var unfinished: [UInt8] { pending }

  /// Bytes after which the rest of a sequence that has not ended is no text: its own, or the
  /// beginning of a string that means nothing.
  var prefix: [UInt8] {
    switch state {
    case .string(let isOSC, isKept: false), .stringEscape(let isOSC, isKept: false):
      Array((isOSC ? "\u{1B}]-" : "\u{1B}X").utf8) + pending
    // With this byte in it no sequence means anything.
    case .excess: Array("\u{1B}[/".utf8)
    case .ground, .escape, .parameters, .character, .string, .stringEscape: pending
    }
  }

  /// Begins a sequence: ESC was found between sequences.
  mutating func begin() { (state, pending) = (.escape, [Self.escape]) }

  /// The next token of `bytes` from `position` on; nil at their end. The start of a sequence is
  /// kept for the next call.
  mutating func next(in bytes: ArraySlice<UInt8>, at position: inout Int) -> Token? {
    while position < bytes.endIndex {
      switch state {
      case .ground: if let token = ground(bytes, &position) { return token }
      case .string(let isOSC, let isKept):
        if let token = string(bytes, &position, isOSC, isKept) { return token }
      case .character(let missing):
        if let token = character(missing, bytes[position], &position) { return token }
      case .excess: if let token = excess(bytes, &position) { return token }
      case .escape, .parameters, .stringEscape:
        if let token = step(bytes[position], &position) { return token }
      }
    }
    return nil
  }

  private mutating func ground(_ bytes: ArraySlice<UInt8>, _ position: inout Int) -> Token? {
    let start = position
    while position < bytes.endIndex, bytes[position] >= 0x20 { position += 1 }
    if position > start { return .text(bytes[start..<position]) }
    let byte = bytes[position]
    position += 1
    guard byte == Self.escape else { return .control(byte) }
    begin()
    return nil
  }

  /// Up to the next byte that can end a string.
  private mutating func string(
    _ bytes: ArraySlice<UInt8>, _ position: inout Int, _ isOSC: Bool, _ isKept: Bool
  ) -> Token? {
    let start = position
    let space = isKept ? Self.limit - pending.count : Int.max
    let end = bytes.endIndex - start > space ? start + space : bytes.endIndex
    while position < end, !Self.mayEnd(bytes[position], isOSC) { position += 1 }
    if position > start {
      guard isKept else { return .rest(bytes[start..<position]) }
      pending += bytes[start..<position]
    }
    if isKept, pending.count >= Self.limit {
      defer { (state, pending) = (.string(isOSC: isOSC, isKept: false), []) }
      return .start(ControlSequence(bytes: pending))
    }
    guard position < bytes.endIndex else { return nil }
    let byte = bytes[position]
    position += 1
    pending.append(byte)
    if byte == Self.escape {
      state = .stringEscape(isOSC: isOSC, isKept: isKept)
      return nil
    }
    return byte == 0x07 ? complete(isKept) : breakOff(isKept)
  }

  /// Parameters up to the final byte of a sequence, or what breaks it off.
  private mutating func excess(_ bytes: ArraySlice<UInt8>, _ position: inout Int) -> Token? {
    let start = position
    while position < bytes.endIndex, (0x20...0x3F).contains(bytes[position]) { position += 1 }
    if position > start { return .rest(bytes[start..<position]) }
    let byte = bytes[position]
    if byte < 0x20 || byte == 0x7F, byte != Self.escape, !Self.isBreak(byte) {
      position += 1
      return .control(byte)
    }
    state = .ground
    guard byte < 0x80, byte != Self.escape else { return .end([]) }
    position += 1
    return .end([byte])
  }

  private static func mayEnd(_ byte: UInt8, _ isOSC: Bool) -> Bool {
    byte < 0x20 && (byte == escape || isBreak(byte) || (isOSC && byte == 0x07))
  }

  /// CAN and SUB break a sequence off.
  private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x18 || byte == 0x1A }

  private mutating func step(_ byte: UInt8, _ position: inout Int) -> Token? {
    if case .stringEscape(_, let isKept) = state { return endString(byte, &position, isKept) }
    position += 1
    if byte < 0x20 || byte == 0x7F, isBehindColon {
      pending.append(byte)
      return breakOff(true)
    }
    if byte == Self.escape {
      let token = Token.broken(pending)
      begin()
      return token
    }
    if Self.isBreak(byte) {
      pending.append(byte)
      return breakOff(true)
    }
    // Other controls act at once.
    if byte < 0x20 || byte == 0x7F { return .control(byte) }
    pending.append(byte)
    if byte >= 0x80 {
      state = .character(missing: Self.missing(behind: byte))
      return state == .character(missing: 0) ? breakOff(true) : nil
    }
    let isEnd = state == .parameters && (0x40...0x7E).contains(byte)
    if pending.count >= Self.limit, !isEnd {
      guard state == .parameters else { return breakOff(true) }
      defer { (state, pending) = (.excess, []) }
      return .start(ControlSequence(bytes: pending))
    }
    if state == .parameters { return isEnd ? complete(true) : nil }
    return stepEscape(byte)
  }

  /// Whether a value is under way that a colon joins to another. As in xterm any control breaks
  /// its sequence off, ESC too, and does nothing else.
  private var isBehindColon: Bool {
    guard state == .parameters else { return false }
    let last = pending.last { $0 == 0x3A || $0 == 0x3B || (0x20...0x2F).contains($0) }
    return last == 0x3A
  }

  /// How many bytes of UTF-8 follow the first one of a character.
  private static func missing(behind lead: UInt8) -> Int {
    switch lead {
    case 0xC2...0xDF: 1
    case 0xE0...0xEF: 2
    case 0xF0...0xF4: 3
    case _: 0
    }
  }

  private mutating func character(
    _ missing: Int, _ byte: UInt8, _ position: inout Int
  ) -> Token? {
    guard (0x80...0xBF).contains(byte) else { return breakOff(true) }
    position += 1
    pending.append(byte)
    state = .character(missing: missing - 1)
    return missing == 1 ? breakOff(true) : nil
  }

  private mutating func stepEscape(_ byte: UInt8) -> Token? {
    // Behind an intermediate byte the next one above them is final.
    guard pending.count == 2 else { return (0x20...0x2F).contains(byte) ? nil : complete(true) }
    switch byte {
    case UInt8(ascii: "["): state = .parameters
    case UInt8(ascii: "]"): state = .string(isOSC: true, isKept: true)
    case UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
      state = .string(isOSC: false, isKept: true)
    case 0x20...0x2F: break
    case _: return complete(true)
    }
    return nil
  }

  /// Behind ESC in a string: a backslash belongs to the string, anything else to the sequence that
  /// ESC begins.
  private mutating func endString(
    _ byte: UInt8, _ position: inout Int, _ isKept: Bool
  ) -> Token? {
    guard byte != UInt8(ascii: "\\") else {
      position += 1
      pending.append(byte)
      return complete(isKept)
    }
    let bytes = Array(pending.dropLast())
    begin()
    return isKept ? .sequence(ControlSequence(bytes: bytes)) : .end(bytes)
  }

  private mutating func complete(_ isKept: Bool) -> Token {
    let bytes = takePending()
    return isKept ? .sequence(ControlSequence(bytes: bytes)) : .end(bytes)
  }

  private mutating func breakOff(_ isKept: Bool) -> Token {
    let bytes = takePending()
    return isKept ? .broken(bytes) : .end(bytes)
  }

  private mutating func takePending() -> [UInt8] {
    defer { (pending, state) = ([], .ground) }
    return pending
  }
}
