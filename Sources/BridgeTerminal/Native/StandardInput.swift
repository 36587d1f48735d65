package import BridgeErrors
import Glibc

/// The end of a run whose standard input cannot be read any more.
package enum StandardInput {
  /// The error of a read that failed with `errno`.
  package static func error(_ errno: Int32) -> AppError {
    .fileReadError(path: "standard input", reason: unsafe String(cString: strerror(errno)))
  }
}
