package import Foundation
import Glibc
import Synchronization

/// A program of a test, whose output is read through a pipe.
///
/// Its end is waited for by its process id. Foundation's `Process` waits for a socket that what the
/// program started inherits: one of those that goes on keeps the program from being reaped, and a
/// child that is not reaped keeps Swift Testing's waitid(2), which takes any, from ever seeing the
/// end of a test in a process of its own.
package final class PipedProgram: Sendable {
  /// Valid until `waitUntilExit` returns.
  package let pid: Int32
  private let output: FileHandle
  private let isReaped = Mutex(false)

  /// Starts it without input.
  ///
  /// - Parameter error: where its standard error goes; `.same(1)` for the pipe.
  /// - Throws: `cannotStart`.
  package init(
    _ path: String, _ arguments: [String], error: ChildStart.Stream
  ) throws(FaultError) {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw .cannotStart(program: path, errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    defer { close(ends[1]) }
    pid = try ChildStart(input: .noInput, output: .descriptor(ends[1]), error: error)
      .start(path, arguments)
  }

  /// What it has printed since the last call, waited for; empty at the end.
  package func read() -> Data { output.availableData }

  /// Kills it, unless it was waited for.
  package func kill() {
    isReaped.withLock { if !$0 { _ = Glibc.kill(pid, SIGKILL) } }
  }

  /// Waits for its end, and reaps it.
  ///
  /// - Returns: whether its status is 0; false where it was waited for before.
  @discardableResult
  package func waitUntilExit() -> Bool {
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    return isReaped.withLock { isReaped in
      var status: Int32 = 1
      guard !isReaped else { return false }
      isReaped = true
      return unsafe waitpid(pid, &status, 0) == pid && status == 0
    }
  }
}
