package import BridgeErrors
import Glibc

/// The end of a run whose standard output cannot be written any more.
package enum StandardOutput {
  /// The error of a write that failed with `errno`; nil where the reader has left, which ends a
  /// program without a word as SIGPIPE does.
  ///
  /// - Parameter isTerminal: whether it is a terminal, of which EIO says that it hung up.
  package static func error(_ errno: Int32?, isTerminal: Bool) -> AppError? {
    guard let errno, errno != EPIPE, errno != ECONNRESET, !(errno == EIO && isTerminal) else {
      return nil
    }
    return .fileWriteError(
      path: "standard output", reason: unsafe String(cString: strerror(errno)))
  }

  /// Writes `text` and ends the process.
  package static func end(with text: String) -> Never {
    let isTerminal = TerminalModes.isTerminal(1)
    guard let errno = DescriptorWriter.failure(writing: Array(text.utf8), to: 1) else {
      Signals.exit(0)
    }
    guard let error = error(errno, isTerminal: isTerminal) else {
      Signals.exit(BridgeErrors.ExitCode.outputClosed.rawValue)
    }
    let lines = TerminalBanner.lastLines(error).map { $0 + "\n" }
    _ = DescriptorWriter.writeAll(Array(lines.joined().utf8), to: 2)
    Signals.exit(error.exitCode().rawValue)
  }
}

extension BridgeErrors.ExitCode {
  /// 128 + SIGPIPE: our standard output has no reader any more.
  package static let outputClosed = Self(rawValue: 141)
}
