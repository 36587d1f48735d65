/// Decides whether a link that was lost is dialed at once, however often it was lost before: where
/// it had brought the work further, and was up for a while. The retry budget is for a host that
/// does not keep its links, not for one that is cut off while it is of use.
package struct LinkUse: Sendable {
  package typealias Instant = ContinuousClock.Instant

  /// How far the work has come over a link.
  package struct Progress: Sendable, Equatable {
    /// Bytes in both directions.
    package var bytes: UInt64
    /// Whole files.
    package var files: UInt64

    package init(bytes: UInt64 = 0, files: UInt64 = 0) {
      self.bytes = bytes
      self.files = files
    }

    package static func + (first: Self, second: Self) -> Self {
      Self(bytes: first.bytes &+ second.bytes, files: first.files &+ second.files)
    }
  }

  /// How long a link must have been up, where nothing else is known of the work: then a host that
  /// ends each one is dialed once in that time.
  package static let usefulTime = Duration.seconds(1)

  private let least: Duration
  private var since: Instant?
  private var progress = Progress()

  /// - Parameter least: how long a link must have been up to be of use.
  package init(atLeast least: Duration) { self.least = least }

  /// The link is up.
  package mutating func begin(at now: Instant) { since = now }

  /// A dial has begun, with the work as far as `progress`: a wait after it is about that dial, and
  /// a server may require it.
  package mutating func dialed(_ progress: Progress) {
    since = nil
    self.progress = progress
  }

  /// Whether the link that was lost had been of use.
  package func wasOfUse(_ progress: Progress, at now: Instant) -> Bool {
    guard progress != self.progress, let since else { return false }
    return now - since >= least
  }
}
