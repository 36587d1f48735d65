/// What output has set in a terminal: all that is not the cells of its screens.
struct TerminalSettings: Sendable, Equatable {
  /// What is known about where the cursor is.
  enum Cursor: Sendable, Equatable {
    case unknown
    /// In the first cell, as in the initial state.
    case home
    /// A sequence has put it there.
    case at(row: Int, column: Int)
  }

  /// What DECSC saves, but the cursor's place.
  struct Saved: Sendable, Equatable {
    var rendition: [UInt8] = []
    var charsets: [UInt8: [UInt8]] = [:]
    var shift: UInt8 = 0
    var hasOrigin = false
  }

  /// One value for each screen.
  struct Pair<Value: Sendable & Equatable>: Sendable, Equatable {
    var main: Value
    var alternate: Value

    subscript(isAlternate isAlternate: Bool) -> Value {
      get { isAlternate ? alternate : main }
      set { if isAlternate { alternate = newValue } else { main = newValue } }
    }
  }

  var cursor = Cursor.home
  var privates = PrivateModes()
  /// The mode by which the alternate screen was entered; nil on the main one.
  var alternate: Int?
  var keyboard = Pair(main: KeyboardFlags(), alternate: KeyboardFlags())
  var saved = Pair<Saved?>(main: nil, alternate: nil)
  /// ANSI modes that are on: 2 (keyboard locked), 4 (insert), 20 (new line).
  var ansi: Set<Int> = []
  var hasKeypad = false
  var region: [Int?] = []
  var margins: [Int?] = []
  var cursorShape = 0
  /// XTMODKEYS and XTFMTKEYS by their final byte and resource, with the sequence that set them.
  var keys: [UInt8: [Int: [UInt8]]] = [:]
  /// Designated character sets, by the byte that names the slot.
  var charsets: [UInt8: [UInt8]] = [:]
  /// The final byte of the locking shift in use: 0, SO, `n` or `o`.
  var shift: UInt8 = 0
  var hasOwnTabStops = false
  var title: [UInt8] = []
  /// What followed the last reset of the rendition.
  var rendition: [UInt8] = []
  /// Dynamic colors (OSC 10 to 19), and whether the palette was changed (OSC 4).
  var colors: [Int: [UInt8]] = [:]
  var hasPalette = false
  /// A hyperlink (OSC 8) is open; a progress bar (OSC 9;4) is shown.
  var hasHyperlink = false
  var hasProgress = false

  var isAlternate: Bool { alternate != nil }

  mutating func saveCursor(isAlternate: Bool) {
    saved[isAlternate: isAlternate] = Saved(
      rendition: rendition, charsets: charsets, shift: shift, hasOrigin: privates[6] == true)
  }

  mutating func restoreCursor(isAlternate: Bool) {
    let saved = saved[isAlternate: isAlternate]
    cursor = saved == nil ? .home : .unknown
    let value = saved ?? Saved()
    (rendition, charsets, shift) = (value.rendition, value.charsets, value.shift)
    privates.set(6, value.hasOrigin)
  }

  /// DECSTR: what xterm resets of what is kept here.
  mutating func softReset() {
    privates.softReset()
    (ansi, hasKeypad, region, margins) = ([], false, [], [])
    (charsets, shift, rendition) = ([:], 0, [])
    saved[isAlternate: isAlternate] = nil
  }
}

extension TerminalSettings {
  /// Sequences that bring a terminal in its initial state into this one.
  var restore: [UInt8] {
    var bytes = keyboard.main.restore
    // The screen first: switching saves the cursor, and leaving brings back what was saved.
    let other = keyboard.alternate.restore
    if let alternate {
      bytes += Self.text("\u{1B}[?\(alternate)h") + other
    } else if !other.isEmpty {
      bytes += Self.text("\u{1B}[?1049h") + other + Self.text("\u{1B}[?1049l")
    }
    bytes += privates.restore + Self.span(region, "r") + Self.span(margins, "s")
    for slot in charsets.keys.sorted() { bytes += charsets[slot] ?? [] }
    if shift != 0 { bytes += shift == 0x0E ? [shift] : [0x1B, shift] }
    for mode in ansi.sorted() { bytes += Self.text("\u{1B}[\(mode)h") }
    if hasKeypad { bytes += Self.text("\u{1B}=") }
    if cursorShape > 0 { bytes += Self.text("\u{1B}[\(cursorShape) q") }
    for final in keys.keys.sorted() {
      for (_, sequence) in (keys[final] ?? [:]).sorted(by: { $0.key < $1.key }) {
        bytes += sequence
      }
    }
    for number in colors.keys.sorted() { bytes += colors[number] ?? [] }
    bytes += title + rendition
    if case .at(let row, let column) = cursor { bytes += Self.text("\u{1B}[\(row);\(column)H") }
    return bytes
  }

  /// Sequences that give a user's terminal back as it was before this output; none where there is
  /// nothing to give back: to leave an alternate screen that was never entered moves the cursor.
  var reset: [UInt8] {
    var bytes: [UInt8] = []
    // What is shown from here on is seen.
    if privates[2026] == true { bytes += Self.text("\u{1B}[?2026l") }
    let other = keyboard.alternate.reset
    if let alternate {
      bytes += other + Self.text("\u{1B}[?\(alternate)l")
    } else if !other.isEmpty {
      bytes += Self.text("\u{1B}[?1049h") + other + Self.text("\u{1B}[?1049l")
    }
    bytes += keyboard.main.reset
    var rest = privates
    rest.set(2026, false)
    bytes += rest.reset
    bytes += resetOfKeysAndText
    if !region.isEmpty { bytes += Self.text("\u{1B}7\u{1B}[r\u{1B}8") }
    // Both put the cursor into the first cell; below everything it does no harm.
    if privates[6] == true { bytes += Self.text("\u{1B}[?6l\u{1B}[9999;1H") }
    return bytes
  }

  private var resetOfKeysAndText: [UInt8] {
    var bytes: [UInt8] = []
    for mode in ansi.sorted() { bytes += Self.text("\u{1B}[\(mode)l") }
    if hasKeypad { bytes += Self.text("\u{1B}>") }
    for final in keys.keys.sorted() {
      for resource in (keys[final] ?? [:]).keys.sorted() {
        bytes += Self.text("\u{1B}[>\(resource)") + [final]
      }
    }
    if cursorShape > 0 || privates[PrivateModes.blinking] != nil {
      bytes += Self.text("\u{1B}[0 q")
    }
    if shift != 0 { bytes.append(0x0F) }
    for slot in charsets.keys.sorted() { bytes += [0x1B, slot, UInt8(ascii: "B")] }
    if hasHyperlink { bytes += Self.text("\u{1B}]8;;\u{1B}\\") }
    if hasProgress { bytes += Self.text("\u{1B}]9;4;0\u{1B}\\") }
    if hasPalette { bytes += Self.text("\u{1B}]104\u{1B}\\") }
    for number in colors.keys.sorted() { bytes += Self.text("\u{1B}]1\(number)\u{1B}\\") }
    let wasRendered = isAlternate && saved.main?.rendition.isEmpty == false
    if !rendition.isEmpty || wasRendered { bytes += Self.text("\u{1B}[0m") }
    return bytes
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func span(_ numbers: [Int?], _ final: String) -> [UInt8] {
    guard !numbers.isEmpty else { return [] }
    let fields = numbers.map { $0.map { "\($0)" } ?? "" }
    return text("\u{1B}[" + fields.joined(separator: ";") + final)
  }
}
