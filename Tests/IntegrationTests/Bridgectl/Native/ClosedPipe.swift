import Foundation
import Testing

/// A pipe without a reader.
final class ClosedPipe: Sendable {
  let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    let code = unsafe pipe(&ends)
    try #require(code == 0)
    close(ends[0])
    writing = ends[1]
    _ = fcntl(writing, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(writing) }
}
