package import BridgeErrors
import Glibc

/// A secret that another program hands over on a descriptor: its first line.
package enum SecretLine {
  /// The longest secret, in bytes.
  package static let limit = 8 << 10

  private enum Outcome {
    case line([UInt8])
    case tooLong
    case failed(errno: Int32)
  }

  /// Reads up to a line feed or the end, one byte at a time: what follows is left for other readers
  /// of the descriptor. Not canceled: where nothing comes, it waits until the process ends.
  ///
  /// - Throws: `validationError` that names `option` and the descriptor, which cannot be read, or
  ///   whose line is empty or too long.
  package static func read(_ descriptor: Int32, option: String) async throws(AppError) -> Secret {
    _ = await JobControl.untilForeground(on: descriptor)
    let outcome = await NativeThread.result { readLine(descriptor) } ?? .failed(errno: EAGAIN)
    let problem: String
    switch outcome {
    case .line(let line) where !line.isEmpty: return Secret(line)
    case .line: problem = "The first line on descriptor \(descriptor) is empty."
    case .tooLong:
      problem = "The first line on descriptor \(descriptor) is longer than \(limit) bytes."
    case .failed(let errno):
      let reason = unsafe String(cString: strerror(errno))
      problem = "Descriptor \(descriptor) cannot be read: \(reason)."
    }
    throw .validationError(field: option, message: problem)
  }

  private static func readLine(_ descriptor: Int32) -> Outcome {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count <= limit {
      let count = unsafe Glibc.read(descriptor, &byte, 1)
      if count > 0, byte != 10 {
        line.append(byte)
      } else if count >= 0 {
        if line.last == 13 { line.removeLast() }
        return .line(line)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
      } else if errno != EINTR {
        return .failed(errno: errno)
      }
    }
    return .tooLong
  }
}
