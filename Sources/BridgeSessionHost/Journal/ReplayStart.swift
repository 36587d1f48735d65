import BridgeSessionProtocol
import BridgeTerminalState

/// Where a terminal of its own begins to show a session: at its first byte while it is short, where
/// the screen was cleared last, or near the end at the start of a line, with the state that the
/// terminal had there.
enum ReplayStart {
  /// Output that is shown without a clearing of the screen.
  static let span: UInt64 = 64 << 10
  /// The farthest clearing from the end that is gone back to.
  static let clearingSpan: UInt64 = 256 << 10
  /// Less output is shown from its first byte: nothing is righter.
  static let wholeSpan: UInt64 = 16 << 10
  /// How far the start of a line is looked for.
  private static let lineSpan = 4 << 10

  static func find(in journal: Journal, _ kind: ProgramKind) -> ReplayPoint {
    let end = journal.newest
    let wanted = max(journal.oldest, end > span ? end - span : 0)
    let segment = kind == .terminal ? journal.segments.last { $0.start <= wanted } : nil
    let first = max(journal.oldest, segment?.start ?? wanted)
    let (start, bytes) = journal.tail(from: first, to: end)
    let oldest = start > first ? start : journal.oldest
    let floor = max(wanted, oldest)
    let state = start == segment?.start ? segment.map(journal.modes(of:)) ?? [] : []
    var tracker =
      start == 0 ? TerminalState() : TerminalState(restoring: state, offset: start)
    let near = nearPoint(bytes, from: start, floor: floor, oldest: oldest, &tracker)
    guard kind == .terminal else { return ReplayPoint(offset: near.offset) }
    return clearing(tracker, from: oldest, to: end) ?? near
  }

  /// A clearing that is better than the near point. What lies behind a full-screen program is shown
  /// when it ends, so that its own clearing is of use only where nothing before it is near.
  private static func clearing(
    _ tracker: TerminalState, from oldest: UInt64, to end: UInt64
  ) -> ReplayPoint? {
    func point(_ mark: TerminalState.Mark?, within span: UInt64) -> ReplayPoint? {
      guard let mark, mark.offset >= oldest, mark.offset + span >= end else { return nil }
      return ReplayPoint(offset: mark.offset, modes: mark.restore)
    }
    let isShort = oldest == 0 && end <= (tracker.isAlternateScreen ? span : wholeSpan)
    if isShort { return nil }
    return point(tracker.mainCleared, within: span) ?? point(tracker.cleared, within: clearingSpan)
  }

  /// The first start of a line from `floor` on, between control sequences; where none is near, any
  /// place between sequences and characters. Leaves `tracker` at the end of `bytes`.
  private static func nearPoint(
    _ bytes: [UInt8], from start: UInt64, floor: UInt64, oldest: UInt64,
    _ tracker: inout TerminalState
  ) -> ReplayPoint {
    let position = Int(floor - start)
    tracker.track(bytes[..<position])
    let atFloor = tracker
    tracker.track(bytes[position...])
    // Nothing lies before the oldest byte: it is a start, with the rest of a sequence that began
    // before it.
    if floor == oldest { return ReplayPoint(offset: floor, modes: atFloor.checkpoint) }
    let window = bytes[position...].prefix(lineSpan)
    let line = boundary(in: window, atFloor) { index in
      index > position && bytes[index - 1] == UInt8(ascii: "\n")
    }
    let found =
      line ?? boundary(in: bytes[position...], atFloor) { bytes[$0] & 0xC0 != 0x80 }
    guard let (index, modes) = found else {
      return ReplayPoint(offset: start + UInt64(bytes.count), modes: tracker.checkpoint)
    }
    return ReplayPoint(offset: start + UInt64(index), modes: modes)
  }

  /// The first place between sequences where `isStart` holds, and the state there.
  private static func boundary(
    in bytes: ArraySlice<UInt8>, _ state: TerminalState, _ isStart: (Int) -> Bool
  ) -> (Int, [UInt8])? {
    var state = state
    for index in bytes.indices {
      if state.isAtBoundary, isStart(index) { return (index, state.restore) }
      state.track(bytes[index...index])
    }
    return nil
  }
}
