/// Finds text that is pasted among what is typed (bracketed paste, xterm's ctlseqs). It may hold
/// anything, and a program that has its beginning takes all that follows for a part of it.
struct Paste: Sendable, Equatable {
  static let beginning = Array("\u{1B}[200~".utf8)
  static let end = Array("\u{1B}[201~".utf8)

  private enum Phase: Sendable, Equatable {
    /// So many bytes of a beginning came last.
    case none(begun: Int)
    /// So many bytes of its end came last.
    case open(ended: Int)
  }

  private var phase = Phase.none(begun: 0)

  var isOpen: Bool { if case .open = phase { true } else { false } }

  /// How many of the last bytes are a part of a beginning or of an end.
  var unfinished: Int {
    switch phase {
    case .none(let begun): begun
    case .open(let ended): ended
    }
  }

  /// Takes in the next byte.
  mutating func see(_ byte: UInt8) {
    switch phase {
    case .none(let begun):
      let count = Self.matched(Self.beginning, begun, byte)
      phase = count == Self.beginning.count ? .open(ended: 0) : .none(begun: count)
    case .open(let ended):
      let count = Self.matched(Self.end, ended, byte)
      phase = count == Self.end.count ? .none(begun: 0) : .open(ended: count)
    }
  }

  private static func matched(_ text: [UInt8], _ count: Int, _ byte: UInt8) -> Int {
    byte == text[count] ? count + 1 : byte == text[0] ? 1 : 0
  }
}
