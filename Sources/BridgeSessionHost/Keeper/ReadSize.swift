/// How much the next read of a channel takes at most: little while little comes, for a key needs no
/// large block of memory; all that is usual where the last read was full.
struct ReadSize: Sendable, Equatable {
  /// An array of so many bytes is of the allocator's cache for a thread (at most 1,032 bytes there,
  /// malloc/malloc.c).
  static let small = 960
  static let usual = 64 << 10

  private let last: Int
  /// In bytes.
  private(set) var next = Self.small

  /// - Parameter last: the most that is taken, where also the usual was filled.
  init(last: Int = Self.usual) { self.last = last }

  /// A read took `count` bytes; true where a larger one than the usual begins.
  @discardableResult mutating func took(_ count: Int) -> Bool {
    let before = next
    if count == next {
      next = next < Self.usual ? Self.usual : last
    } else if count <= Self.small {
      next = Self.small
    }
    return next > Self.usual && before == Self.usual
  }
}
