/// Every byte travels in a write of its own.
public struct Slice: Fault, Shaper {
  /// Bytes a write, at least 1.
  public var size: Int
  /// The sliced directions.
  public var directions: Set<Direction>

  /// Connections open now and later.
  public var scope: FaultScope { .all }
  /// One step.
  public var steps: [FaultStep] { [.shape(directions, self)] }

  /// Slices it.
  public mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    portion.pieces(of: max(1, size))
  }
}

extension Fault where Self == Slice {
  /// Writes of at most `size` bytes in these directions.
  public static func slice(_ size: Int = 1, _ directions: Set<Direction> = .both) -> Slice {
    Slice(size: size, directions: directions)
  }
}
