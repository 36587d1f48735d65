/// The keyboard flags of kitty's protocol on one screen: a stack that programs push and pop.
struct KeyboardFlags: Sendable, Equatable {
  private var saved: [Int] = []
  private var current = 0
  /// Terminals keep at least 8; the oldest make place.
  private static let limit = 16

  /// Whether nothing was changed.
  var isEmpty: Bool { saved.isEmpty && current == 0 }

  /// `CSI > flags u`.
  mutating func push(_ flags: Int) {
    if saved.count == Self.limit { saved.removeFirst() }
    saved.append(current)
    current = flags & 0x1F
  }

  /// `CSI < count u`.
  mutating func pop(_ count: Int) {
    for _ in 0..<min(count, Self.limit) { current = saved.popLast() ?? 0 }
  }

  /// `CSI = flags ; mode u`.
  mutating func set(_ flags: Int, mode: Int) {
    let flags = flags & 0x1F
    switch mode {
    case 2: current |= flags
    case 3: current &= ~flags
    case _: current = flags
    }
  }

  /// The sequences that fill the stack of a terminal in its initial state.
  var restore: [UInt8] {
    let levels = saved + [current]
    let base = levels[0] == 0 ? "" : "\u{1B}[=\(levels[0])u"
    return Array((base + levels.dropFirst().map { "\u{1B}[>\($0)u" }.joined()).utf8)
  }

  /// The sequences that leave what was there before.
  var reset: [UInt8] {
    let pops = saved.isEmpty ? "" : "\u{1B}[<\(saved.count)u"
    return Array((pops + ((saved.first ?? current) == 0 ? "" : "\u{1B}[=0u")).utf8)
  }
}
