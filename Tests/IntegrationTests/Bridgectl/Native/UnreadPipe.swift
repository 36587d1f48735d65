import Foundation
import Testing

/// A pipe whose reader takes nothing.
final class UnreadPipe: Sendable {
  let writing: Int32
  private let reading: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    let code = unsafe pipe(&ends)
    try #require(code == 0)
    (reading, writing) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  /// Whether it takes no more.
  var isFull: Bool {
    var state = pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&state, 1, 0) == 0
  }

  deinit {
    close(reading)
    close(writing)
  }
}
