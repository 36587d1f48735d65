/// An application that does not read, at one end of each open connection: bytes to it stay in the
/// buffers of the kernels until those are full, and then the sender has to wait. What it sends
/// itself goes on, and nothing is lost once it reads.
public struct NotReading: Fault {
  /// The direction of the bytes that are not read.
  public var direction: Direction
  /// After this it reads again; nil: never, unless healed.
  public var duration: Duration?

  /// Freeze one direction, and thaw when it is not for good.
  public var steps: [FaultStep] {
    guard let duration else { return [.freeze([direction])] }
    return [.freeze([direction]), .wait(duration), .thaw]
  }
}

extension Fault where Self == NotReading {
  /// The application that bytes of `direction` lead to, the server's by default, does not read.
  public static func notReading(
    _ direction: Direction = .toServer, for duration: Duration? = nil
  ) -> NotReading { NotReading(direction: direction, duration: duration) }
}
