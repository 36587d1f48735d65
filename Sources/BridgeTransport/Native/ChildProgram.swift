import Foundation

/// A program that is started as a child process (posix_spawn(3)).
package struct ChildProgram {
  /// The signals with which it begins.
  package enum Signals {
    /// None is blocked, and each does what it does by default.
    case unset
    /// As this process has them: what it ignores is ignored.
    case inherited
  }

  /// Why it could not be started.
  package struct StartFailure: Error {
    /// As the call that failed has it.
    package let errno: Int32

    /// A failure with this `errno`.
    package init(errno: Int32) { self.errno = errno }

    /// The system's words.
    package var words: String { unsafe String(cString: strerror(errno)) }
  }

  private let words: [String]
  private let path: String
  private let streams: KeyValuePairs<Int32, Int32>
  private let signals: Signals

  /// A program that is not started.
  ///
  /// - Parameters:
  ///   - words: its name and its arguments.
  ///   - path: its file; nil for its name, which is looked for in PATH.
  ///   - streams: its descriptors, each with the one of this process that it is; the others are
  ///     inherited unless they are close-on-exec.
  package init(
    _ words: [String], path: String? = nil, streams: KeyValuePairs<Int32, Int32> = [:],
    signals: Signals = .unset
  ) {
    self.words = words
    self.path = path ?? words.first ?? ""
    self.streams = streams
    self.signals = signals
  }

  /// Starts it; returns its process id, which the caller reaps.
  package func start() throws(StartFailure) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (its, ours) in streams { unsafe posix_spawn_file_actions_adddup2(&actions, ours, its) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    switch signals {
    case .unset: unsetSignals(in: &attributes)
    case .inherited: break
    }
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var child = pid_t()
    let code = unsafe posix_spawnp(&child, path, &actions, &attributes, &arguments, environ)
    guard code == 0 else { throw StartFailure(errno: code) }
    return child
  }

  private func unsetSignals(in attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
  }
}
