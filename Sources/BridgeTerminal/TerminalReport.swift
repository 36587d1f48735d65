/// What a terminal sends by itself, among what is typed: answers to queries, and news of its window
/// and its mouse wheel. No user typed it, so it is neither held nor counted as typing is.
///
/// Sources: ECMA-48, xterm's ctlseqs, the kitty keyboard protocol.
package enum TerminalReport {
  /// The length of the report that `bytes` begin with; nil for a key, and for a report that is not
  /// whole: a terminal sends one at once, and the Esc key must not wait for what might follow.
  package static func length(at bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.first == 0x1B, let kind = bytes.dropFirst().first else { return nil }
    let body = bytes.dropFirst(2)
    return switch kind {
    case UInt8(ascii: "["): sequence(body).map { $0 + 2 }
    case UInt8(ascii: "]") where body.first.map(isDigit) == true: string(body).map { $0 + 2 }
    case UInt8(ascii: "P"), UInt8(ascii: "_"): string(body).map { $0 + 2 }
    case _: nil
    }
  }

  /// What is left of `bytes` without reports.
  package static func without(_ bytes: [UInt8]) -> [UInt8] {
    var (rest, typed) = (bytes[...], [UInt8]())
    while let byte = rest.first {
      let length = length(at: rest)
      if length == nil { typed.append(byte) }
      rest = rest.dropFirst(length ?? 1)
    }
    return typed
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The length of the text of an OSC, DCS or APC, with what ends it.
  private static func string(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let end = bytes.firstIndex(where: { $0 < 0x20 }) else { return nil }
    let count = end - bytes.startIndex
    if bytes[end] == 7 { return count + 1 }
    return bytes[end...].starts(with: [0x1B, UInt8(ascii: "\\")]) ? count + 2 : nil
  }

  /// The length of a control sequence, without the CSI, that is a report.
  private static func sequence(_ bytes: ArraySlice<UInt8>) -> Int? {
    let parameters = bytes.prefix { (0x30...0x3F).contains($0) }
    let middle = bytes.dropFirst(parameters.count).prefix { (0x20...0x2F).contains($0) }
    let count = parameters.count + middle.count
    guard let final = bytes.dropFirst(count).first else { return nil }
    if final == UInt8(ascii: "M"), count == 0 {
      // The old form of a mouse: a button and a place, a byte each.
      guard let button = bytes.dropFirst().first, bytes.count >= 4, button >= 0x20 else {
        return nil
      }
      return isIdle(button: Int(button) - 0x20) ? 4 : nil
    }
    return isReport(parameters, middle, final) ? count + 1 : nil
  }

  private static func isReport(
    _ parameters: ArraySlice<UInt8>, _ middle: ArraySlice<UInt8>, _ final: UInt8
  ) -> Bool {
    let mark = parameters.first.flatMap { isDigit($0) ? nil : $0 }
    let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { Int(String(decoding: $0.drop { !isDigit($0) }, as: UTF8.self)) ?? 0 }
    return switch (final, mark) {
    // The window has the focus, or not.
    case (UInt8(ascii: "I"), nil), (UInt8(ascii: "O"), nil): parameters.isEmpty && middle.isEmpty
    // The place of the cursor; F3 with Shift, Alt or Ctrl looks like one in the first row.
    case (UInt8(ascii: "R"), nil): numbers.count == 2 && !(numbers[0] == 1 && numbers[1] <= 16)
    case (UInt8(ascii: "R"), UInt8(ascii: "?")): true
    // What kind of terminal it is.
    case (UInt8(ascii: "c"), UInt8(ascii: "?")), (UInt8(ascii: "c"), UInt8(ascii: ">")): true
    // Modes, states, sizes, graphics, keyboard flags.
    case (UInt8(ascii: "y"), _): middle.first == UInt8(ascii: "$")
    case (UInt8(ascii: "n"), _), (UInt8(ascii: "t"), nil): true
    case (UInt8(ascii: "S"), UInt8(ascii: "?")), (UInt8(ascii: "u"), UInt8(ascii: "?")): true
    case (UInt8(ascii: "m"), UInt8(ascii: ">")): true
    case (UInt8(ascii: "M"), UInt8(ascii: "<")), (UInt8(ascii: "m"), UInt8(ascii: "<")):
      numbers.first.map(isIdle(button:)) ?? false
    case (UInt8(ascii: "M"), nil): numbers.count == 3 && isIdle(button: numbers[0] - 0x20)
    case _: false
    }
  }

  /// Whether a button of a mouse report is the wheel, or none at all while the mouse moves: a click
  /// is an answer, as a key is.
  private static func isIdle(button: Int) -> Bool {
    button & 0x40 != 0 || button & 0x23 == 0x23
  }
}
