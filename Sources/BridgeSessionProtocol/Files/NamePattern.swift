/// A pattern of names in one directory, as sh(1) reads it.
package struct NamePattern: Sendable, Equatable {
  private enum Piece: Sendable, Equatable {
    case byte(UInt8)
    case anyByte
    case anything
    case set([ClosedRange<UInt8>], isNegated: Bool)

    func takes(_ byte: UInt8) -> Bool {
      switch self {
      case .byte(let own): own == byte
      case .anyByte: true
      case .anything: false
      case .set(let ranges, let isNegated): ranges.contains { $0.contains(byte) } != isNegated
      }
    }
  }

  private let pieces: [Piece]

  /// - Parameters:
  ///   - escapes: whether what follows a backslash has no meaning: shells differ.
  ///   - caretNegates: whether `[^` begins a set of other names, as `[!` does: shells differ
  ///     (POSIX, 2.13.1).
  package init(_ pattern: some Sequence<UInt8>, escapes: Bool, caretNegates: Bool = true) {
    var rest = Array(pattern)[...]
    var pieces: [Piece] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"): pieces.append(.anything)
      case UInt8(ascii: "?"): pieces.append(.anyByte)
      case UInt8(ascii: "["):
        // Without an end it is itself.
        let set = Self.set(&rest, escapes: escapes, caretNegates: caretNegates)
        pieces.append(set ?? .byte(byte))
      case UInt8(ascii: "\\") where escapes: pieces.append(.byte(rest.popFirst() ?? byte))
      case _: pieces.append(.byte(byte))
      }
    }
    self.pieces = pieces
  }

  /// What comes behind a bracket, up to the one that closes it; nil without one.
  private static func set(
    _ pattern: inout ArraySlice<UInt8>, escapes: Bool, caretNegates: Bool
  ) -> Piece? {
    var rest = pattern
    let isNegated =
      rest.first == UInt8(ascii: "!") || (caretNegates && rest.first == UInt8(ascii: "^"))
    if isNegated { rest.removeFirst() }
    var ranges: [ClosedRange<UInt8>] = []
    var isFirst = true
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "]"), !isFirst {
        pattern = rest
        return .set(ranges, isNegated: isNegated)
      }
      isFirst = false
      if byte == UInt8(ascii: "["), let known = characterClass(&rest) {
        ranges += known
        continue
      }
      let low = literal(byte, &rest, escapes: escapes)
      guard rest.first == UInt8(ascii: "-"), let end = rest.dropFirst().first,
        end != UInt8(ascii: "]")
      else {
        ranges.append(low...low)
        continue
      }
      rest.removeFirst(2)
      let high = literal(end, &rest, escapes: escapes)
      if low <= high { ranges.append(low...high) }
    }
    return nil
  }

  private static func literal(
    _ byte: UInt8, _ rest: inout ArraySlice<UInt8>, escapes: Bool
  ) -> UInt8 {
    byte == UInt8(ascii: "\\") && escapes ? rest.popFirst() ?? byte : byte
  }

  /// What `[:name:]` in a set stands for, in the locale C.
  private static func characterClass(
    _ rest: inout ArraySlice<UInt8>
  ) -> [ClosedRange<UInt8>]? {
    for (name, ranges) in classes {
      let text = Array(":\(name):]".utf8)
      guard rest.starts(with: text) else { continue }
      rest.removeFirst(text.count)
      return ranges
    }
    return nil
  }

  private static let classes: [(String, [ClosedRange<UInt8>])] = [
    ("alnum", [48...57, 65...90, 97...122]), ("alpha", [65...90, 97...122]),
    ("blank", [9...9, 32...32]),
    ("cntrl", [0...31, 127...127]), ("digit", [48...57]), ("graph", [33...126]),
    ("lower", [97...122]), ("print", [32...126]),
    ("punct", [33...47, 58...64, 91...96, 123...126]), ("space", [9...13, 32...32]),
    ("upper", [65...90]), ("xdigit", [48...57, 65...70, 97...102]),
  ]

  /// Whether it stands for `name`.
  ///
  /// - Parameter hidesDots: whether, as for a shell, a dot at the beginning is matched by a dot
  ///   only.
  package func matches(_ name: [UInt8], hidesDots: Bool = true) -> Bool {
    if hidesDots, name.first == UInt8(ascii: ".") {
      guard case .byte? = pieces.first else { return false }
    }
    var (piece, index) = (0, 0)
    // Where the last `*` began to match, and what comes behind it.
    var last: (piece: Int, index: Int)?
    while index < name.count {
      if piece < pieces.count, case .anything = pieces[piece] {
        piece += 1
        last = (piece, index)
      } else if piece < pieces.count, pieces[piece].takes(name[index]) {
        (piece, index) = (piece + 1, index + 1)
      } else if let again = last {
        (piece, index) = (again.piece, again.index + 1)
        last = (piece, index)
      } else {
        return false
      }
    }
    return pieces[piece...].allSatisfy { if case .anything = $0 { true } else { false } }
  }
}
