/// Lost packets, as TCP shows them to those who use it: what was lost comes when it was sent again,
/// and all behind it waits.
public struct Loss: Fault, Shaper {
  /// The share of portions that are lost, 0 to 1.
  public var share: Double
  /// The time until a lost one was sent again.
  public var resent: Duration
  /// The lossy directions.
  public var directions: Set<Direction>

  /// Connections open now and later.
  public var scope: FaultScope { .all }
  /// One step.
  public var steps: [FaultStep] { [.shape(directions, self)] }

  /// Cuts it into packets of a network, and loses some.
  public mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    portion.pieces(of: Self.packet).map { piece in
      var late = piece
      if Double.random(in: 0..<1, using: &generator) < share { late.due += resent }
      return late
    }
  }

  /// What Ethernet carries of a TCP stream at once, in bytes.
  private static let packet = 1_448
}

extension Fault where Self == Loss {
  /// Loses this share of the packets in these directions; 200 ms is Linux's shortest wait.
  public static func loss(
    _ share: Double, resent: Duration = .milliseconds(200), _ directions: Set<Direction> = .both
  ) -> Loss { Loss(share: share, resent: resent, directions: directions) }
}
