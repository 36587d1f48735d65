extension HostSession {
  /// The next output of one attachment.
  public enum OutputTurn: Sendable, Equatable {
    /// Nothing to send now: all was sent, the window is full, or the attachment is gone.
    case nothing
    /// Send a gap frame.
    case gap(from: UInt64, to: UInt64)
    /// Send the size that the terminal has for what follows.
    case size(WindowSize)
    /// Send these bytes of the journal, as one output frame for each run of one stream.
    case bytes(from: UInt64, count: Int)
    /// Send the end.
    case ended(at: UInt64, ProgramEnd)
  }

  /// Whether the keeper may read more of the program's output.
  public enum ReadPermission: Sendable, Equatable {
    /// It may.
    case read
    /// The writer is behind, and is waited for: look again at this time, or after its next frame.
    case hold(until: Milliseconds)
    /// The journal is full of output that was not committed: look again after the next frame.
    case blocked
  }

  /// Records output that was appended to the journal.
  public mutating func produced(_ count: Int, at now: Milliseconds) {
    if let writer { attachments[writer]?.lag.printed(after: newest, at: now) }
    newest += UInt64(count)
  }

  /// Records that the journal no longer keeps output below `offset`.
  public mutating func dropped(below offset: UInt64) {
    oldest = min(max(oldest, offset), newest)
  }

  /// The offset below which the journal may drop output now.
  public var dropTarget: UInt64 {
    guard newest > configuration.cap else { return 0 }
    let excess = newest - configuration.cap
    switch configuration.whenFull {
    case .drop: return excess
    case .wait: return min(excess, committed)
    }
  }

  /// Whether the program's output may be read now.
  public func readPermission(at now: Milliseconds) -> ReadPermission {
    if let attachment = writer.flatMap({ attachments[$0] }),
      let end = attachment.lag.hold(newest: newest, lead: lead(of: attachment), at: now)
    {
      return .hold(until: end)
    }
    guard configuration.whenFull == .wait else { return .read }
    // What was committed may be dropped, so it takes no space.
    return newest - max(oldest, committed) >= configuration.cap ? .blocked : .read
  }

  /// How far the program may be ahead of the writer. On a terminal what is ahead is what still
  /// appears after Ctrl-C; on pipes it only has to fill the window.
  private func lead(of attachment: Attachment) -> UInt64 {
    guard configuration.kind == .terminal else { return max(Limits.lead, attachment.window) }
    return Limits.lead + attachment.omitted.count(from: attachment.acknowledged)
  }

  /// What to send next to an attachment, at most `limit` bytes. The cursor moves: whatever is
  /// returned must be sent.
  public mutating func nextOutput(for id: AttachmentID, limit: Int) -> OutputTurn {
    guard hasOutput(for: id), var attachment = attachments[id] else { return .nothing }
    defer { attachments[id] = attachment }
    if let size = attachment.sizes?.take(at: attachment.cursor) { return .size(size) }
    if attachment.cursor < oldest {
      let from = attachment.cursor
      attachment.cursor = oldest
      return .gap(from: from, to: oldest)
    }
    let kept = min(keptEnd ?? newest, newest)
    if attachment.cursor >= kept, attachment.cursor < newest {
      let from = attachment.cursor
      attachment.cursor = newest
      return .gap(from: from, to: newest)
    }
    if attachment.cursor < kept {
      let space = min(UInt64(max(limit, 0)), attachment.space)
      let end = min(kept, attachment.sizes?.next ?? kept)
      let count = min(space, end - attachment.cursor)
      guard count > 0 else { return .nothing }
      attachment.cursor += count
      return .bytes(from: attachment.cursor - count, count: Int(count))
    }
    guard let ending, !attachment.endWasSent else { return .nothing }
    attachment.endWasSent = true
    return .ended(at: newest, ending)
  }

  /// Records that output up to `offset` cannot be read, and that the attachment was sent a gap.
  public mutating func skip(to offset: UInt64, for id: AttachmentID) {
    guard let cursor = attachments[id]?.cursor else { return }
    attachments[id]?.cursor = min(max(cursor, offset), newest)
  }

  /// True when `nextOutput` would return something.
  public func hasOutput(for id: AttachmentID) -> Bool {
    guard let attachment = attachments[id], attachment.isAttached else { return false }
    if attachment.cursor < oldest { return true }
    if let next = attachment.sizes?.next, next <= attachment.cursor { return true }
    if let keptEnd, attachment.cursor >= keptEnd, attachment.cursor < newest { return true }
    if attachment.cursor < newest {
      return attachment.space > 0
    }
    return ending != nil && !attachment.endWasSent
  }

  // MARK: Catching up

  /// The output that an attachment is better not sent, because the screen of now can stand for it:
  /// where it was away for longer than the program waits for it, or where it takes long and the
  /// user has typed something. Nil where all is sent. `omit` or `sendAll` is to follow.
  public func excess(for id: AttachmentID) -> Range<UInt64>? {
    guard let attachment = attachments[id], attachment.isAttached, attachment.catchesUp,
      attachment.cursor < newest, attachment.space > 0, !attachment.omitted.isFull
    else { return nil }
    let unsent = newest - attachment.cursor
    let usual = attachment.pace.bytes(in: Limits.usualDelay).map { max($0, Limits.smallestSkip) }
    let isAwaited = writer == id && attachment.cursor < typedAt
    let isSlow = isAwaited && unsent > usual ?? .max
    return isSlow || unsent > Limits.lead ? attachment.cursor..<newest : nil
  }

  /// The part of omitted output whose queries are still to be answered: a program that waits for an
  /// answer prints no more, and to what was printed before the client was there it gets none.
  public func unanswered(of range: Range<UInt64>, for id: AttachmentID) -> Range<UInt64>? {
    guard writer == id, let live = attachments[id]?.live else { return nil }
    let last = range.upperBound - min(range.upperBound, Limits.smallestSkip)
    let start = max(range.lowerBound, live, last)
    return start < range.upperBound ? start..<range.upperBound : nil
  }

  /// The size to send before the screen that stands for output to `end`; nil for the last one.
  public mutating func size(before end: UInt64, for id: AttachmentID) -> WindowSize? {
    attachments[id]?.sizes?.take(at: end)
  }

  /// The writer's terminal has another size: who follows it learns of it behind the output so far.
  mutating func resize(to size: WindowSize) -> [Effect] {
    guard ending == nil else { return [] }
    if size != self.size {
      for id in attachments.keys where id != writer {
        attachments[id]?.sizes?.append(size, at: newest)
      }
    }
    self.size = size
    return [.resize(size)]
  }

  /// Records that the attachment was sent the screen in place of output to the newest.
  public mutating func omit(_ range: Range<UInt64>, for id: AttachmentID) {
    guard let cursor = attachments[id]?.cursor, range == cursor..<newest else { return }
    attachments[id]?.omitted.append(range)
    attachments[id]?.cursor = range.upperBound
  }

  /// Records that there is no screen to stand for output.
  public mutating func sendAll(to id: AttachmentID) { attachments[id]?.catchesUp = false }

  /// Records what an attachment was sent by now, to measure how fast it takes it.
  public mutating func followPace(of id: AttachmentID, at now: Milliseconds) {
    guard var attachment = attachments[id], attachment.isAttached, attachment.catchesUp else {
      return
    }
    attachment.pace.sent(
      taken: attachment.taken, end: attachment.taken + attachment.underWay,
      isLimited: attachment.cursor < newest, at: now)
    attachments[id] = attachment
  }

  /// Records the end of the program and of its output.
  public mutating func end(_ ending: ProgramEnd, at now: Milliseconds) -> [Effect] {
    self.ending = ending
    return acknowledgements(at: now)
  }

  mutating func acknowledge(
    _ through: UInt64, committed settled: UInt64, by id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    guard var attachment = attachments[id] else { return [] }
    guard through <= attachment.cursor, through >= attachment.acknowledged else {
      throw .wrongAcknowledgement(through: through, sent: attachment.cursor)
    }
    guard settled <= through else {
      throw .wrongCommit(committed: settled, acknowledged: through)
    }
    attachment.taken += attachment.underWay
    attachment.lag.acknowledge(through, at: now)
    attachment.taken -= attachment.underWay
    attachment.omitted.drop(below: through)
    attachment.pace.acknowledged(attachment.taken, at: now)
    attachments[id] = attachment
    if writer == id {
      committed = max(committed, settled)
      writersPace = attachment.pace.atRest
    }
    return []
  }
}
