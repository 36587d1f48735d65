import Foundation
import Glibc
import NIOCore

/// A program this process started: signaled by its pid only while it is not yet reaped.
struct ChildProcess: Sendable {
  /// Valid until `status` is known.
  let pid: pid_t
  /// The wait status, once the child has ended and was reaped.
  private(set) var status: Int32?

  /// Starts `path` with the given arguments, in a process group of its own.
  ///
  /// Signals are at their defaults, stdout and stderr are appended to `log`, stdin is `input` (or
  /// /dev/null). No other descriptor is inherited.
  init(_ path: String, _ arguments: [String], input: Int32? = nil, log: String) throws(FaultError) {
    pid = try ChildStart(
      input: input.map { .descriptor($0) } ?? .noInput,
      output: .file(log, O_WRONLY | O_CREAT | O_APPEND), error: .same(1), group: .own,
      keeping: input
    ).start(path, arguments)
  }

  /// True once it ended; reaps it then.
  mutating func hasEnded() -> Bool {
    guard status == nil else { return true }
    var code: Int32 = 0
    guard unsafe waitpid(pid, &code, WNOHANG) == pid else { return false }
    status = code
    return true
  }

  /// Sends a signal, unless it has ended.
  mutating func send(_ signal: Signal) {
    if !hasEnded() { kill(pid, signal.number) }
  }

  /// Kills it and waits until it is reaped.
  mutating func end() async {
    send(.kill)
    while !hasEnded() { await pause(.milliseconds(1)) }
  }

  /// Waits until it ends by itself; true when with status 0.
  mutating func finish() async -> Bool {
    while !hasEnded() { await pause(.milliseconds(1)) }
    return status == 0
  }
}
