/// Short pieces of text, one of which every secret that is recognized comes with. They are made
/// from the tables of names and shapes, so that what is added there is found.
struct SecretNeedles: Sendable {
  static let shared = SecretNeedles(SecretNames.announcing + TokenShape.all.map(\.prefix))

  /// Pieces of four bytes, or of three with a zero before them, in order.
  private let pieces: [UInt32]
  /// One bit for each two bytes that a piece ends with.
  private var ends = [UInt64](repeating: 0, count: 1 << 10)

  /// The pieces of `words`, letters in either case.
  init(_ words: [String]) {
    pieces = Set(words.map { Self.rarest(of: Array($0.utf8)) }).sorted()
    for piece in pieces { ends[Int(piece & 0xFFFF) >> 6] |= 1 << UInt64(piece & 63) }
  }

  /// Whether one of them is in `bytes`: one cheap pass that most texts do not get beyond. An `@`
  /// counts as well.
  func isIn(_ bytes: some Sequence<UInt8>) -> Bool {
    var last: UInt32 = 0
    for byte in bytes {
      if byte == UInt8(ascii: "@") { return true }
      last = last << 8 | UInt32(byte.lowercased)
      guard ends[Int(last & 0xFFFF) >> 6] & (1 << UInt64(last & 63)) != 0 else { continue }
      if contains(last) || contains(last & 0xFF_FFFF) { return true }
    }
    return false
  }

  @inline(never) private func contains(_ piece: UInt32) -> Bool {
    var range = pieces.startIndex..<pieces.endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if pieces[middle] == piece { return true }
      range = pieces[middle] < piece ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }

  /// The four neighbors in `word` that are least common in English; all of a word of three.
  private static func rarest(of word: [UInt8]) -> UInt32 {
    let lower = word.map(\.lowercased)
    let size = min(4, lower.count)
    let windows = (0...(lower.count - size)).map { Array(lower[$0..<$0 + size]) }
    let best = windows.max { rarity(of: $0) < rarity(of: $1) } ?? lower
    return best.reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static let byFrequency = Array(" etaoinshrdlcumwfgypbvkxjqz".utf8)

  /// Signs are rarest, first of all where a name meets its value.
  private static func rarity(of window: [UInt8]) -> Int {
    window.reduce(0) { sum, byte in
      if byte == UInt8(ascii: "=") { return sum + 3 * byFrequency.count }
      return sum + (byFrequency.firstIndex(of: byte) ?? byFrequency.count)
    }
  }
}
