/// What a host sends unasked behind the marker of its answer: the proof that it is `bridge-host`
/// that reads what a client sends. A frame without a payload, of a type that a client of an earlier
/// version skips.
public enum Greeting {
  /// Header and payload.
  public static let bytes: [UInt8] = [129] + [UInt8](repeating: 0, count: 15)
}
