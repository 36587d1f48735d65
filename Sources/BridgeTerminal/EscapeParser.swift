/// Finds the escapes of a live shell among what is typed: a tilde at the start of a line, and then
/// one of `.`, `r`, `s`, `#`, `&`, Ctrl-Z, `?`, `d` where the shell can be detached from, or
/// another tilde (ssh(1), ESCAPE CHARACTERS). Where there is a window, finds its keys as well.
package struct EscapeParser: Sendable, Equatable {
  /// The typed text.
  package enum Token: Sendable, Equatable {
    /// Bytes for the remote side.
    case bytes([UInt8])
    /// Bytes for it that the terminal has sent by itself (`TerminalReport`).
    case report([UInt8])
    /// `~.`
    case disconnect
    /// `~r`
    case reconnect
    /// `~s`
    case status
    /// `~#`
    case forwards
    /// `~^Z`
    case suspend
    /// `~&`
    case background
    /// `~d`
    case detach
    /// `~?`
    case help
    /// `~h`, `~j`, `~k`, `~l` or `~f`, without the tilde, or Alt and an arrow key as one of these:
    /// moves the window.
    case move(UInt8)
  }

  private enum Place: Sendable, Equatable {
    case lineStart
    case afterTilde
    case inLine
  }

  private var place = Place.lineStart
  private var paste = Paste()
  private let canDetach: Bool
  private let hasLines: Bool
  private let canMove: Bool
  /// The byte that stands for the tilde; nil where there are no escapes.
  private let tilde: UInt8?

  /// At the start of a line.
  ///
  /// - Parameters:
  ///   - canDetach: whether `~d` is an escape.
  ///   - hasLines: false where nothing is typed to a program: an escape begins anywhere.
  ///   - canMove: whether there is a window to move.
  ///   - tilde: the byte in the place of the tilde; nil for no escapes.
  package init(
    canDetach: Bool = false, hasLines: Bool = true, canMove: Bool = false,
    tilde: UInt8? = UInt8(ascii: "~")
  ) {
    self.canDetach = canDetach
    self.hasLines = hasLines
    self.canMove = canMove
    self.tilde = tilde
  }

  /// Whether a tilde would begin an escape, or has begun one.
  package var isAtLineStart: Bool { tilde != nil && place != .inLine }

  /// What was typed is gone: an escape may begin.
  package mutating func beginLine() { place = .lineStart }

  /// Splits `bytes` into tokens, in order; a tilde at their end is kept back until the next byte.
  package mutating func take(_ bytes: [UInt8]) -> [Token] {
    var tokens: [Token] = []
    var plain: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.first {
      if !paste.isOpen, let length = TerminalReport.length(at: rest) {
        if !plain.isEmpty { tokens.append(.bytes(plain)) }
        plain = []
        tokens.append(.report(Array(rest.prefix(length))))
        rest = rest.dropFirst(length)
        continue
      }
      paste.see(byte)
      if let move = arrow(at: rest) {
        if !plain.isEmpty { tokens.append(.bytes(plain)) }
        plain = []
        tokens.append(.move(move))
        rest = rest.dropFirst(Self.altArrow.count + 1)
        continue
      }
      rest = rest.dropFirst()
      guard place == .afterTilde else {
        step(byte, into: &plain)
        continue
      }
      place = .lineStart
      guard let token = escape(byte) else {
        // Two tildes are one; anything else was none of ours.
        if byte != tilde, let tilde { plain.append(tilde) }
        place = hasLines ? .inLine : .lineStart
        step(byte, into: &plain)
        continue
      }
      if !plain.isEmpty { tokens.append(.bytes(plain)) }
      plain = []
      tokens.append(token)
    }
    if !plain.isEmpty { tokens.append(.bytes(plain)) }
    return tokens
  }

  private mutating func step(_ byte: UInt8, into plain: inout [UInt8]) {
    if byte == tilde, place == .lineStart {
      place = .afterTilde
      return
    }
    plain.append(byte)
    place = byte == 10 || byte == 13 || !hasLines ? .lineStart : .inLine
  }

  private static let moves = Array("hjklf".utf8)

  /// The move of Alt and an arrow key, which works in a line too. A terminal sends such a key at
  /// once; of one that comes in two pieces the program gets what it gets of every other.
  private func arrow(at bytes: ArraySlice<UInt8>) -> UInt8? {
    guard tilde != nil, canMove, place != .afterTilde, bytes.starts(with: Self.altArrow)
    else { return nil }
    return bytes.dropFirst(Self.altArrow.count).first.flatMap { Self.arrows[$0] }
  }

  /// CSI 1 ; 3, before the letter of the arrow (xterm, "PC-Style Function Keys").
  private static let altArrow = Array("\u{1B}[1;3".utf8)
  private static let arrows: [UInt8: UInt8] = [
    UInt8(ascii: "A"): UInt8(ascii: "k"), UInt8(ascii: "B"): UInt8(ascii: "j"),
    UInt8(ascii: "C"): UInt8(ascii: "l"), UInt8(ascii: "D"): UInt8(ascii: "h"),
  ]

  private func escape(_ byte: UInt8) -> Token? {
    switch byte {
    case UInt8(ascii: "."): .disconnect
    case UInt8(ascii: "r"): .reconnect
    case UInt8(ascii: "s"): .status
    case UInt8(ascii: "#"): .forwards
    case UInt8(ascii: "&"): .background
    case 26: .suspend
    case UInt8(ascii: "?"): .help
    case UInt8(ascii: "d") where canDetach: .detach
    case _ where canMove && Self.moves.contains(byte): .move(byte)
    case _: nil
    }
  }
}
