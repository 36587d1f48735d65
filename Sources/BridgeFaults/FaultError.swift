/// Why a fault, a proxy or a peer could not do what it was asked to.
///
/// Never an `AppError`: what breaks links has errors of its own, so that a broken test bench is not
/// taken for a link that failed as ordered.
public enum FaultError: Error, Sendable, Equatable, CustomStringConvertible {
  /// No loopback listener could be opened; the detail is the system's text.
  case cannotListen(detail: String)
  /// A program could not be started; `errno` as posix_spawn(3) returned it.
  case cannotStart(program: String, errno: Int32)
  /// A program ended, or never became ready; the log is what it wrote last.
  case notReady(program: String, log: String)
  /// A file of a peer could not be written or read.
  case fileUnusable(path: String, detail: String)
  /// It was stopped before.
  case stopped

  /// One line for the reader of a failed test.
  public var description: String {
    switch self {
    case .cannotListen(let detail): "cannot listen on loopback: \(detail)"
    case .cannotStart(let program, let errno): "cannot start \(program): errno \(errno)"
    case .notReady(let program, let log): "\(program) did not become ready: \(log)"
    case .fileUnusable(let path, let detail): "cannot use \(path): \(detail)"
    case .stopped: "already stopped"
    }
  }
}
