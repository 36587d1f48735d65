import BridgeErrors
import FoundationEssentials

extension RetryAfter {
  /// The wait that the header field `value` requires now; nil where it is none.
  static func secondsFromNow(_ value: String) -> Int? { seconds(from: value, now: Date()) }
}
