import Foundation
import Testing

/// A pipe without a reader until `readAll`.
final class StalledPipe: Sendable {
  let writing: FileHandle
  private let reading: FileHandle

  init() throws {
    var ends: [Int32] = [-1, -1]
    let code = unsafe pipe(&ends)
    try #require(code == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
  }

  /// All that was and will be written, until the last writer but us has ended.
  func readAll() throws -> [UInt8] {
    try writing.close()
    return Array(try reading.readToEnd() ?? Data())
  }
}
