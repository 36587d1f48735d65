/// How far a client is behind the program's output, and since when: it decides how far the program
/// may be ahead.
struct OutputLag: Sendable {
  /// The client's reader has all output below.
  private(set) var acknowledged: UInt64
  /// When it took output last, or when the first was printed that it has not taken: the silence of
  /// a client that has everything is no sign of a stall.
  private(set) var since: Milliseconds

  init(acknowledged: UInt64 = 0, since: Milliseconds = 0) {
    self.acknowledged = acknowledged
    self.since = since
  }

  /// The program prints, and all its output ended at `newest` before.
  mutating func printed(after newest: UInt64, at now: Milliseconds) {
    if acknowledged >= newest { since = max(since, now) }
  }

  /// The client has acknowledged.
  mutating func acknowledge(_ through: UInt64, at now: Milliseconds) {
    guard through > acknowledged else { return }
    (acknowledged, since) = (through, now)
  }

  /// Until when a program whose output ends at `newest` waits for the client; nil where it need
  /// not: it is ahead by less than `lead`, or the client has taken nothing for a while.
  func hold(newest: UInt64, lead: UInt64, at now: Milliseconds) -> Milliseconds? {
    let end = since + Limits.stall
    return newest >= acknowledged + lead && now < end ? end : nil
  }
}
