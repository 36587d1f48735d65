import BridgeSessionProtocol
import BridgeTerminalState

// The screen that a new client is shown.
extension Keeper {
  /// How long output may be printed that the checkpoint does not have.
  private static let screenDelay: Milliseconds = 1000
  /// More is taken in once the program prints nothing for a moment.
  private static let screenSpan: UInt64 = 1 << 20
  private static let screenPause: Milliseconds = 100
  /// What is taken in at once: a key waits for so much.
  private static let screenStep: UInt64 = 256 << 10
  /// More output has more lines than are drawn above the screen.
  private static let countedSpan: UInt64 = 64 << 10

  /// Takes account of output that was printed, before what is older is dropped.
  func followScreen(at now: Milliseconds) {
    guard checkpoint != nil else { return }
    printedAt = now
    if screenAt == nil { screenAt = now + Self.screenDelay }
    let journal = server.journal
    guard journal.segments.count > 1, let first = journal.segments.first,
      first.end <= server.machine.dropTarget
    else { return }
    checkpoint?.advance(to: first.end, in: journal)
  }

  /// Brings the checkpoint up, some output at a time.
  func advanceScreen(at now: Milliseconds) {
    guard let screenAt, now >= screenAt, let behind = checkpoint else { return }
    let newest = server.journal.newest
    let isFlowing = now < printedAt + Self.screenPause
    if isFlowing, newest - behind.offset > Self.screenSpan {
      self.screenAt = now + Self.screenDelay
      return
    }
    let end = min(newest, behind.offset + Self.screenStep)
    checkpoint?.advance(to: end, in: server.journal)
    self.screenAt = end < newest && behind.isExact ? now : nil
    tidyAt = now + Self.tidyDelay
  }

  /// What a new client is shown: all from the first byte while that is little and was printed for
  /// one size, or else the screen of now. A terminal that was attached before has the lines
  /// above it but those that were printed since. Nil where only the journal has it.
  func screenPoint(for hello: Hello) -> ReplayPoint? {
    let journal = server.journal
    let newest = journal.newest
    guard let found = checkpoint else { return nil }
    let isShort = journal.oldest == 0 && newest <= ReplayStart.wholeSpan
    if isShort, !found.wasResized, hello.shown ?? 0 == 0 { return nil }
    guard let shown = newestScreen() else { return nil }
    let writer = server.machine.writingClient
    let writes =
      hello.role == .writer && (writer == nil || writer == hello.client || hello.takes)
    let history = hello.shown.map(linesPrinted) ?? ScreenCheckpoint.history
    return shown.render(for: writes ? hello.size : nil, history: history).map {
      ReplayPoint(offset: newest, modes: $0)
    }
  }

  /// How many lines may have left the screen since output at `offset`.
  private func linesPrinted(since offset: UInt64) -> Int {
    let journal = server.journal
    guard offset < journal.newest else { return 0 }
    guard journal.newest - offset <= Self.countedSpan,
      case .bytes(let bytes, through: journal.newest) = journal.piece(
        from: offset, to: journal.newest, framed: false)
    else { return ScreenCheckpoint.history }
    return min(bytes.count { $0 == 0x0A }, ScreenCheckpoint.history)
  }

  /// What a client that is far behind is shown. Without the lines above the screen: it has some of
  /// them, and would have them twice.
  func screenOfNow() -> SessionServer.ScreenOfNow {
    guard tracker.isAtBoundary else { return .later }
    let drawing = newestScreen()?.render(for: nil, history: 0)
    return drawing.map { .drawn($0) } ?? .unknown
  }

  /// The screen with all that was printed; nil where it is not known.
  private func newestScreen() -> ScreenCheckpoint? {
    let newest = server.journal.newest
    checkpoint?.advance(to: newest, in: server.journal)
    guard let shown = checkpoint, shown.isExact, shown.offset == newest else { return nil }
    return shown
  }
}
