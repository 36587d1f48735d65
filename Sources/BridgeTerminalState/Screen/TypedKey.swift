/// A key on its way to the program.
struct TypedKey: Sendable, Equatable {
  /// What a key does to a line, where that is known.
  enum Input: Sendable, Equatable {
    /// A character of one cell.
    case character(UInt32)
    /// Backspace.
    case erase
    case left
    case right
    /// It may do anything.
    case other
  }

  var input: Input
  /// When it was typed, since any moment that stays the same.
  var time: Duration

  /// The character; nil for another key.
  var scalar: UInt32? { if case .character(let scalar) = input { scalar } else { nil } }

  var isOther: Bool { input == .other }

  init(input: Input, at time: Duration) { (self.input, self.time) = (input, time) }
}

/// Reads keys from typed bytes, cut anywhere.
struct TypedKeyParser: Sendable {
  private enum State: Equatable {
    case ground
    case escape
    /// CSI or SS3; whether it has parameters.
    case sequence(hasParameters: Bool)
  }

  private var state = State.ground
  private var decoder = ScalarDecoder()

  /// The key that ends with this byte; nil for one that goes on. A sequence is a key at its first
  /// byte where that may be one of its own: Escape.
  mutating func take(_ byte: UInt8) -> TypedKey.Input? {
    switch (state, byte) {
    case (_, 0x1B):
      (state, decoder) = (.escape, ScalarDecoder())
      return nil
    case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")):
      state = .sequence(hasParameters: false)
      return nil
    case (.escape, _):
      state = .ground
      return .other
    case (.sequence, 0x20..<0x40):
      state = .sequence(hasParameters: true)
      return nil
    case (.sequence(let hasParameters), _):
      state = .ground
      if hasParameters { return .other }
      return byte == UInt8(ascii: "C") ? .right : byte == UInt8(ascii: "D") ? .left : .other
    case (.ground, 0x7F), (.ground, 0x08): return .erase
    case (.ground, 0x20..<0x7F) where decoder.isEmpty: return .character(UInt32(byte))
    case (.ground, 0..<0x20): return .other
    case (.ground, _): return decode(byte)
    }
  }

  private mutating func decode(_ byte: UInt8) -> TypedKey.Input? {
    switch decoder.take(byte) {
    case .more: return nil
    case .scalar(let scalar):
      return CharacterWidth.of(scalar) == 1 ? .character(scalar) : .other
    case .invalid: return .other
    }
  }
}
