/// Knows which modes a remote program switched on in the user's terminal, so that they can be
/// switched off when it is cut off: alternate screen, hidden cursor, mouse, bracketed paste, keypad
/// (ECMA-48; xterm's "Control Sequences", DECSET).
///
/// Switching off what is not on would do harm: leaving an alternate screen that was never entered
/// moves the cursor.
package struct ScreenTracker: Sendable, Equatable {
  private enum Place: Sendable, Equatable {
    case text
    case escape
    case bracket
    case privateMode
  }

  private var place = Place.text
  private var digits: [UInt8] = []
  private var modes: Set<Int> = []
  private var hasAttributes = false
  private var hasApplicationKeypad = false

  /// Off when it starts, and ours to switch off.
  private static let known: Set = [
    1, 9, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047, 1049, 2004,
  ]
  /// On when it starts: the cursor.
  private static let cursor = 25

  /// A terminal as it is before a program writes to it.
  package init() {}

  /// Whether a program has the whole screen to itself: the alternate one, or without a cursor, as
  /// `top` does.
  package var isTaken: Bool { !modes.isDisjoint(with: [47, 1047, 1049, Self.cursor]) }

  /// Tracks the output of the remote side.
  package mutating func see(_ bytes: [UInt8]) {
    if place == .text, !bytes.contains(0x1B) { return }
    for byte in bytes { step(byte) }
  }

  /// The sequences that restore the terminal; empty when there is nothing to restore.
  package var reset: String {
    var text = ""
    for mode in modes.sorted(by: >) {
      text += "\u{1B}[?\(mode)\(mode == Self.cursor ? "h" : "l")"
    }
    if hasApplicationKeypad { text += "\u{1B}>" }
    if hasAttributes { text += "\u{1B}[0m" }
    return text
  }

  private mutating func step(_ byte: UInt8) {
    switch (place, byte) {
    case (_, 0x1B): place = .escape
    case (.escape, UInt8(ascii: "[")):
      place = .bracket
      digits = []
    case (.escape, UInt8(ascii: "=")), (.escape, UInt8(ascii: ">")):
      hasApplicationKeypad = byte == UInt8(ascii: "=")
      place = .text
    case (.bracket, UInt8(ascii: "?")) where digits.isEmpty: place = .privateMode
    case (.bracket, 0x30...0x3B), (.privateMode, 0x30...0x3B):
      if digits.count < 64 { digits.append(byte) }
    case (.bracket, UInt8(ascii: "m")):
      hasAttributes = !digits.isEmpty && digits.contains { $0 != 0x30 && $0 != 0x3B }
      place = .text
    case (.privateMode, UInt8(ascii: "h")), (.privateMode, UInt8(ascii: "l")):
      set(isOn: byte == UInt8(ascii: "h"))
      place = .text
    case _: place = .text
    }
  }

  private mutating func set(isOn: Bool) {
    for field in digits.split(separator: UInt8(ascii: ";")) {
      guard let mode = Int(String(decoding: field, as: UTF8.self)) else { continue }
      let differs = mode == Self.cursor ? !isOn : isOn
      guard mode == Self.cursor || Self.known.contains(mode) else { continue }
      if differs { modes.insert(mode) } else { modes.remove(mode) }
    }
  }
}
