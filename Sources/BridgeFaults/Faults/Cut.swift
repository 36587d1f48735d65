/// The link ends after so many more bytes in one direction, wherever that is in a message.
public struct Cut: Fault, Shaper {
  /// Bytes that still pass, counted from when the fault meets the connection.
  public var count: Int
  /// Which bytes are counted.
  public var direction: Direction
  /// How it ends.
  public var ending: Portion.Ending

  /// One step.
  public var steps: [FaultStep] { [.shape([direction], self)] }
  /// Only the next connection: what cuts every one never lets anything recover.
  public var scope: FaultScope { .next }

  /// Lets `count` bytes pass, then ends it.
  public mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion] {
    var last = portion
    guard portion.count >= count else {
      count -= portion.count
      return [portion]
    }
    last.bytes = portion.bytes.prefix(count)
    last.ending = ending
    last.alteration = "cut"
    return [last]
  }
}

extension Fault where Self == Cut {
  /// Ends the next connection after `count` bytes in `direction`.
  public static func cut(
    after count: Int, _ direction: Direction = .toClient, by ending: Portion.Ending = .reset
  ) -> Cut { Cut(count: max(0, count), direction: direction, ending: ending) }
}
