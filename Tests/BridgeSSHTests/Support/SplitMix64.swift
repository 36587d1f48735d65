/// A generator that repeats exactly from its seed (Steele, Lea, Flood 2014).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Inputs near a valid one: bytes flipped, cut, repeated, or replaced by what parsers trip over.
enum Mutation {
  /// `count` mutations of `original`, the same ones for the same `seed`.
  static func of(_ original: [UInt8], count: Int, seed: UInt64) -> [[UInt8]] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&bytes, &generator) }
      return bytes
    }
  }

  private static let spice: [[UInt8]] = [
    [0], [255, 255, 255, 255], [127, 255, 255, 255], [10], [13, 10], [0x1b, 0x5b],
    Array("|1|".utf8),
    Array("@revoked ".utf8), Array("*?*?*".utf8), Array("\"".utf8), Array("%".utf8), [0xc3], [],
  ]

  private static func mutate(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
    let place = Int.random(in: 0...bytes.count, using: &generator)
    let end = min(bytes.count, place + Int.random(in: 0...12, using: &generator))
    switch Int.random(in: 0..<4, using: &generator) {
    case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &generator)
    case 1: bytes.removeSubrange(place..<end)
    case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
    default: bytes.replaceSubrange(place..<end, with: spice.randomElement(using: &generator) ?? [])
    }
  }
}
