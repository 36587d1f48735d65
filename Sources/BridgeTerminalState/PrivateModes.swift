/// The DEC private modes that output has set, of those that matter to who comes after.
struct PrivateModes: Sendable, Equatable {
  /// One mode.
  struct Mode: Sendable {
    var number: Int
    /// Its value in a terminal's initial state; nil where that is the terminal's, or the user's.
    var initial: Bool?
  }

  /// Keys, screen, wrap, cursor, mouse, focus, paste, synchronized output, reports. A table: a mode
  /// that is not here is neither restored nor reset.
  static let all: [Mode] =
    [
      1, 5, 6, 9, 45, 69, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2031,
      2048, 5522, 9001,
    ].map { Mode(number: $0, initial: false) }
    + [7, 8, 25, 1070].map { Mode(number: $0, initial: true) }
    + [12, 67, 80, 1007, 1034, 1036, 1039, 2027].map { Mode(number: $0, initial: nil) }

  private static let index = Dictionary(
    uniqueKeysWithValues: all.enumerated().map { ($0.element.number, $0.offset) })
  /// They take each other's place in most terminals: the last one that is set counts.
  private static let mouse: Set = [9, 1000, 1001, 1002, 1003]
  static let blinking = 12
  private static let alternateScroll = 1007

  /// A bit for each mode that is not as it was initially, and its value.
  private var changed: UInt64 = 0
  private var values: UInt64 = 0
  private var lastMouse = 0

  /// Sets a mode; false where it is none of these.
  @discardableResult mutating func set(_ number: Int, _ isOn: Bool) -> Bool {
    guard let index = Self.index[number] else { return false }
    let bit = UInt64(1) << UInt64(index)
    let initial = Self.all[index].initial
    changed = initial == isOn ? changed & ~bit : changed | bit
    values = isOn ? values | bit : values & ~bit
    if Self.mouse.contains(number), isOn { lastMouse = number }
    if lastMouse == number, !isOn { lastMouse = 0 }
    return true
  }

  /// The value of a mode that is not as it was initially; else nil.
  subscript(_ number: Int) -> Bool? {
    guard let index = Self.index[number] else { return nil }
    let bit = UInt64(1) << UInt64(index)
    return changed & bit == 0 ? nil : values & bit != 0
  }

  /// The modes that differ, in ascending order; of the mouse's the one that counts last.
  private var differing: [(number: Int, isOn: Bool)] {
    func place(_ number: Int) -> Int { number == lastMouse ? 2 * 1003 + 1 : 2 * number }
    return Self.all.compactMap { mode in self[mode.number].map { (mode.number, $0) } }
      .sorted { place($0.0) < place($1.0) }
  }

  /// The sequences that set them in a terminal in its initial state.
  var restore: [UInt8] {
    differing.flatMap { Array("\u{1B}[?\($0.number)\($0.isOn ? "h" : "l")".utf8) }
  }

  /// The sequences that set them back.
  var reset: [UInt8] {
    var bytes: [UInt8] = []
    for (number, isOn) in differing.sorted(by: { $0.number > $1.number }) {
      let initial = Self.index[number].flatMap { Self.all[$0].initial }
      // Where a terminal has it at all, it is on at first.
      let wanted = number == Self.alternateScroll && !isOn ? true : initial
      if let wanted { bytes += Array("\u{1B}[?\(number)\(wanted ? "h" : "l")".utf8) }
    }
    return bytes
  }

  /// DECSTR: what xterm resets of them.
  mutating func softReset() {
    for number in [1, 6] { set(number, false) }
    for number in [7, 25] { set(number, true) }
  }
}
