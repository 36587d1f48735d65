/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): random
/// numbers that repeat from a seed.
public struct SeededGenerator: RandomNumberGenerator, Sendable, Equatable {
  private var state: UInt64

  /// A generator whose whole future is `seed`.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SeededGenerator {
  /// An arbitrary seed: it differs between calls, and between processes
  /// as their hashing does.
  public static func anySeed() -> UInt64 {
    var hasher = Hasher()
    hasher.combine(ContinuousClock.now)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
