import Foundation
import Glibc
import NIOCore

/// A program this process started: signalled by its pid only while it is not yet reaped.
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
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let input {
      unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    unsafe posix_spawn_file_actions_addopen(
      &actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    unsafe InheritedDescriptors.close(in: &actions, but: input)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    var argv = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe argv.forEach { unsafe free($0) } }
    var child = pid_t()
    let code = unsafe posix_spawn(&child, path, &actions, &attributes, &argv, environ)
    guard code == 0 else { throw .cannotStart(program: path, errno: code) }
    pid = child
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
