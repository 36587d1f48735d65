#if canImport(BridgeTerminalState)
  import BridgeTerminalState
#endif

/// What holds for every output of a terminal. Run by the tests on seeded bytes, and by
/// `scripts/fuzz` on bytes that libFuzzer chooses: it compiles this file with the sources of the
/// tracker.
enum TerminalFuzzBody {
  /// The first rule that these bytes break; nil where all hold. The first byte decides how the rest
  /// is cut into pieces.
  static func broken(by data: [UInt8]) -> String? {
    guard let first = data.first else { return nil }
    let rest = Array(data.dropFirst())
    let pieces = cut(rest, by: Int(first))
    return tracker(rest, pieces) ?? filter(rest, pieces) ?? screen(rest, pieces)
  }

  private static func cut(_ bytes: [UInt8], by seed: Int) -> [[UInt8]] {
    var (pieces, position, length) = ([[UInt8]](), 0, seed % 7 + 1)
    while position < bytes.count {
      let end = min(position + length, bytes.count)
      pieces.append(Array(bytes[position..<end]))
      position = end
      length = (length * 5 + seed) % 97 + 1
    }
    return pieces
  }

  private static func tracker(_ whole: [UInt8], _ pieces: [[UInt8]]) -> String? {
    var (once, inPieces) = (TerminalState(), TerminalState())
    once.track(whole)
    for piece in pieces { inPieces.track(piece) }
    guard once.checkpoint == inPieces.checkpoint, once.cleared == inPieces.cleared,
      once.mainCleared == inPieces.mainCleared, once.reset == inPieces.reset,
      once.isAtBoundary == inPieces.isAtBoundary
    else { return "the state depends on where the bytes were cut" }
    guard once.restore.count <= 4096, once.reset.count <= 4096 else { return "the state is long" }
    guard once.cleared?.offset ?? 0 <= UInt64(whole.count) else { return "cleared in the future" }
    let restored = TerminalState(restoring: once.checkpoint, offset: UInt64(whole.count))
    guard restored.checkpoint == once.checkpoint else { return "the state is not restored" }
    return nil
  }

  private static func filter(_ whole: [UInt8], _ pieces: [[UInt8]]) -> String? {
    for audience in [MuteFilter.Audience.replay, .resumption] {
      var (once, inPieces) = (MuteFilter(audience), MuteFilter(audience))
      let shown = once.filter(whole) + once.finish()
      let parts = pieces.flatMap { inPieces.filter($0) } + inPieces.finish()
      guard shown == parts else { return "what is shown depends on where the bytes were cut" }
      // An image is made quiet with 4 bytes; what is taken out in its middle has an end.
      let sequences = whole.count { $0 == 0x1B }
      guard shown.count <= whole.count + 5 * sequences else { return "more is shown than printed" }
    }
    return nil
  }

  private static func screen(_ whole: [UInt8], _ pieces: [[UInt8]]) -> String? {
    var (once, inPieces) = (
      TerminalScreen(rows: 5, columns: 20, history: 9),
      TerminalScreen(rows: 5, columns: 20, history: 9)
    )
    once.track(whole)
    for piece in pieces { inPieces.track(piece) }
    guard once == inPieces else { return "the screen depends on where the bytes were cut" }
    var fresh = TerminalScreen(rows: 5, columns: 20)
    fresh.track(once.render())
    return fresh == once ? nil : "the screen is not restored"
  }
}
