/// How long the echo of a key takes, and from when on none is awaited: the mean and the deviation
/// of those before, as TCP has it for its round trips (RFC 6298).
struct EchoTime: Sendable {
  private var mean: Duration
  private var deviation: Duration

  /// - Parameter roundTrip: of the link.
  init(_ roundTrip: Duration) { (mean, deviation) = (roundTrip, roundTrip / 16) }

  /// The longest one that is still awaited.
  var limit: Duration { mean + max(deviation * 4, Self.leastAllowance) }

  /// A program prints what it has read when the machine comes to it.
  private static let leastAllowance = Duration.milliseconds(50)

  mutating func record(_ time: Duration) {
    let difference = time > mean ? time - mean : mean - time
    deviation = (deviation * 3 + difference) / 4
    mean = (mean * 7 + time) / 8
  }
}
