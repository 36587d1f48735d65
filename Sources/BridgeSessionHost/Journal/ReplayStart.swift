import BridgeSessionProtocol

/// Where a terminal of its own begins to show a session: where the screen was cleared last, or near
/// the end at the start of a line, with the modes that the terminal had there.
enum ReplayStart {
  /// Output that is shown without a clearing of the screen.
  static let span: UInt64 = 64 << 10
  /// The farthest clearing from the end that is gone back to.
  static let clearingSpan: UInt64 = 256 << 10

  static func find(in journal: Journal, _ kind: ProgramKind) -> ReplayPoint {
    let end = journal.newest
    let wanted = max(journal.oldest, end > span ? end - span : 0)
    let segment = kind == .terminal ? journal.segments.last { $0.start <= wanted } : nil
    let first = max(journal.oldest, segment?.start ?? wanted)
    let (start, bytes) = journal.tail(from: first, to: end)
    let oldest = start > first ? start : journal.oldest
    let floor = max(wanted, oldest)
    let modes = start == segment?.start ? segment.map(journal.modes(of:)) ?? [] : []
    var tracker = ModeTracker(restoring: modes, offset: start)
    let near = nearPoint(bytes, from: start, floor: floor, oldest: oldest, &tracker)
    guard kind == .terminal else { return ReplayPoint(offset: near.offset) }
    if let cleared = tracker.cleared, cleared.offset >= oldest,
      cleared.offset + clearingSpan >= end
    {
      return cleared
    }
    return near
  }

  /// The first start of a line from `floor` on, between control sequences. Leaves `tracker` at the
  /// end of `bytes`.
  private static func nearPoint(
    _ bytes: [UInt8], from start: UInt64, floor: UInt64, oldest: UInt64,
    _ tracker: inout ModeTracker
  ) -> ReplayPoint {
    var position = Int(floor - start)
    tracker.track(Array(bytes[..<position]))
    // Nothing lies before the oldest byte: it is a start.
    if floor == oldest {
      let point = ReplayPoint(offset: floor, modes: tracker.restore)
      tracker.track(Array(bytes[position...]))
      return point
    }
    while let feed = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) {
      tracker.track(Array(bytes[position...feed]))
      position = feed + 1
      guard tracker.isAtBoundary else { continue }
      let point = ReplayPoint(offset: start + UInt64(position), modes: tracker.restore)
      tracker.track(Array(bytes[position...]))
      return point
    }
    tracker.track(Array(bytes[position...]))
    return ReplayPoint(offset: floor, modes: tracker.restore)
  }
}
