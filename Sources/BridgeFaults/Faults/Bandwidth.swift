/// A slow line: at most so many bytes a second pass in each direction.
public struct Bandwidth: Fault, Shaper {
  /// Bytes a second, at least 1.
  public var bytesPerSecond: Int
  /// The slow directions.
  public var directions: Set<Direction>
  private var isFree = Duration.zero

  init(bytesPerSecond: Int, directions: Set<Direction>) {
    self.bytesPerSecond = max(1, bytesPerSecond)
    self.directions = directions
  }

  /// Connections open now and later.
  public var scope: FaultScope { .all }
  /// One step.
  public var steps: [FaultStep] { [.shape(directions, self)] }

  /// Cuts it into pieces of 10 ms, each due when the line has carried it.
  public mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    portion.pieces(of: max(1, bytesPerSecond / 100)).map { piece in
      var late = piece
      isFree = max(isFree, piece.due)
      isFree += .seconds(1) * (Double(piece.count) / Double(bytesPerSecond))
      late.due = isFree
      return late
    }
  }
}

extension Fault where Self == Bandwidth {
  /// At most so many bytes a second in each of these directions.
  public static func bandwidth(
    _ bytesPerSecond: Int, _ directions: Set<Direction> = .both
  ) -> Bandwidth { Bandwidth(bytesPerSecond: bytesPerSecond, directions: directions) }
}
