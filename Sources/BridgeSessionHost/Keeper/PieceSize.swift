/// The size of the next piece of output on a channel: small at first. A client takes whole frames
/// only, and a link that dies soon after its login is to bring some of them.
struct PieceSize: Sendable, Equatable {
  static let first = 1 << 10
  static let last = 64 << 10

  private var size = Self.first

  mutating func next() -> Int {
    defer { size = min(size * 2, Self.last) }
    return size
  }
}
