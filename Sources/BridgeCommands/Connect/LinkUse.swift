/// Decides when a link that was lost is dialed again where it had brought the work further: at
/// once, however often it was lost before, as long as that does not become a storm of logins. The
/// retry budget is for a host that does not keep its links, not for one that is cut off while it
/// is of use.
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

  /// Dials at once before they are spaced.
  package static let burst = 40
  /// The time in which one more of them is free: what dials take on average in the long run.
  package static let spacing = Duration.milliseconds(250)
  /// From then on what is there for someone to use is served, and not only promised.
  package static let serving = Duration.seconds(1)

  /// Since when the link is up.
  private var upSince: Instant?
  private var progress = Progress()
  /// When as many dials at once are free as ever.
  private var allFreeAt: Instant?

  package init() {}

  /// The link is up.
  package mutating func begin(at now: Instant) { upSince = now }

  /// A dial has begun, with the work as far as `progress`: a wait after it is about that dial, and
  /// a server may require it.
  package mutating func dialed(_ progress: Progress) {
    upSince = nil
    self.progress = progress
  }

  /// How long to wait with the next dial after the link was lost; nil where it had been of no use.
  ///
  /// - Parameter serves: whether it is of use when it is there: ports lead over it, or a shell or
  ///   program may print, or be typed to, at any time.
  package mutating func pause(
    _ progress: Progress, serves: Bool = false, at now: Instant
  ) -> Duration? {
    guard let upSince else { return nil }
    guard progress != self.progress || serves && now - upSince >= Self.serving else {
      return nil
    }
    let freeAt = max(allFreeAt ?? now, now)
    allFreeAt = freeAt + Self.spacing
    return max(.zero, freeAt - now - Self.spacing * (Self.burst - 1))
  }
}
