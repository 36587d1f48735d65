/// Open sockets that carry nothing any more, in both directions or in one: a black hole.
public struct Freeze: Fault {
  /// The frozen directions.
  public var directions: Set<Direction>
  /// After this it goes on where it was; nil: never, unless healed.
  public var duration: Duration?

  /// Freeze, and thaw when it is not for good.
  public var steps: [FaultStep] {
    guard let duration else { return [.freeze(directions)] }
    return [.freeze(directions), .wait(duration), .thaw]
  }
}

extension Fault where Self == Freeze {
  /// Nothing passes in these directions; sockets stay open. Later connections are not met.
  public static func freeze(
    _ directions: Set<Direction> = .both, for duration: Duration? = nil
  ) -> Freeze { Freeze(directions: directions, duration: duration) }
}
