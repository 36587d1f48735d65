import BridgeSessionProtocol

/// The size of the next piece of output on a channel: small at first. Older clients take whole
/// frames only: a link that dies soon after its login is to bring some of them, and on a slow one
/// what a program prints is to appear as it comes. Where the link is fast, each frame costs more
/// than its bytes.
struct PieceSize: Sendable, Equatable {
  static let first = 1 << 10
  /// Where the rate of the link is not known, or low.
  static let usual = 64 << 10
  static let last = 256 << 10
  /// How long the link may take for a frame.
  private static let frameTime: UInt64 = 20
  private static let measuredTime: Milliseconds = 100

  private var size = Self.first
  private var most = Self.usual
  private var measuredAt: Milliseconds?
  private var isMeasured = false
  private var measuredThrough: UInt64 = 0

  /// True where frames are longer than usual, and until the link was measured.
  var mayBeFast: Bool { most > Self.usual || !isMeasured }

  mutating func next() -> Int {
    defer { size = size * 2 }
    size = min(size, most)
    return size
  }

  /// Measures the rate of the link by the output that was acknowledged.
  mutating func acknowledged(through offset: UInt64, at now: Milliseconds) {
    if let measuredAt {
      let time = now - measuredAt
      guard time >= Self.measuredTime else { return }
      let count = offset > measuredThrough ? offset - measuredThrough : 0
      most = Int(clamping: min(count / time, UInt64(Self.last)) * Self.frameTime)
      most = min(max(most, Self.usual), Self.last)
      isMeasured = true
    }
    measuredAt = now
    measuredThrough = offset
  }
}
