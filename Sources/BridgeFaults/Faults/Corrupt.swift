import NIOCore

/// One byte arrives as another one.
public struct Corrupt: Fault, Shaper {
  /// Which byte, counted from 0 when the fault meets the connection.
  public var offset: Int
  /// The direction of the byte.
  public var direction: Direction
  /// Which bit of it changes, 0 the lowest; nil for a random choice of bits.
  public var bit: Int?

  /// One step.
  public var steps: [FaultStep] { [.shape([direction], self)] }
  /// Only the next connection.
  public var scope: FaultScope { .next }

  /// Flips at least one bit of the byte.
  public mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    var altered = portion
    let index = portion.bytes.readerIndex + offset
    if offset >= 0, let byte = portion.bytes.getInteger(at: index, as: UInt8.self) {
      let mask = bit.map { 1 << UInt8($0 & 7) } ?? UInt8.random(in: 1...255, using: &generator)
      altered.bytes.setInteger(byte ^ mask, at: index)
      altered.alteration = "corrupted"
    }
    offset -= portion.count
    return [altered]
  }
}

extension Fault where Self == Corrupt {
  /// Alters byte `offset` of the next connection in `direction`: one `bit` of it, or some.
  public static func corrupt(
    at offset: Int, _ direction: Direction = .toClient, bit: Int? = nil
  ) -> Corrupt {
    Corrupt(offset: offset, direction: direction, bit: bit)
  }
}
