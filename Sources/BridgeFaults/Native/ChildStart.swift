import Foundation
import Glibc

/// How a program of a test is started (posix_spawn(3)): its standard streams, its process group and
/// its environment. Its signals do what they do by default, and no other descriptor is inherited.
package struct ChildStart: Sendable {
  /// One of the standard streams.
  package enum Stream: Sendable {
    /// A descriptor of this process.
    case descriptor(Int32)
    /// A file, opened with these flags.
    case file(String, Int32)
    /// The standard stream with this number, which comes before.
    case same(Int32)

    /// No input.
    package static let noInput = Self.file("/dev/null", O_RDONLY)
    /// Output that is not kept.
    package static let noOutput = Self.file("/dev/null", O_WRONLY)
  }

  /// Whose process group it is in.
  package enum Group: Int32, Sendable {
    /// That of this process.
    case shared = 0
    /// Its own (POSIX_SPAWN_SETPGROUP).
    case own = 0x02
    /// Its own, in a session without a terminal (POSIX_SPAWN_SETSID).
    case session = 0x80
  }

  private let streams: [Stream]
  private let group: Group
  private let environment: [String: String]?
  private let kept: Int32?

  /// - Parameters:
  ///   - environment: nil for that of this process.
  ///   - kept: a descriptor that it inherits beside its standard streams.
  package init(
    input: Stream, output: Stream, error: Stream, group: Group = .shared,
    environment: [String: String]? = nil, keeping kept: Int32? = nil
  ) {
    streams = [input, output, error]
    self.group = group
    self.environment = environment
    self.kept = kept
  }

  /// Starts the program at `path`; returns its process id, which the caller reaps.
  package func start(_ path: String, _ arguments: [String]) throws(FaultError) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in zip(Int32(0)..., streams) {
      switch stream {
      case .descriptor(let ours):
        unsafe posix_spawn_file_actions_adddup2(&actions, ours, number)
      case .file(let file, let flags):
        unsafe posix_spawn_file_actions_addopen(&actions, number, file, flags, 0o600)
      case .same(let other): unsafe posix_spawn_file_actions_adddup2(&actions, other, number)
      }
    }
    unsafe InheritedDescriptors.close(in: &actions, but: kept)
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
    let flags = Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | group.rawValue
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var argv = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment?.map { unsafe strdup("\($0.key)=\($0.value)") } ?? []
    unsafe variables.append(nil)
    defer {
      unsafe argv.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var child = pid_t()
    let code =
      environment == nil
      ? unsafe posix_spawn(&child, path, &actions, &attributes, &argv, environ)
      : unsafe posix_spawn(&child, path, &actions, &attributes, &argv, &variables)
    guard code == 0 else { throw .cannotStart(program: path, errno: code) }
    return child
  }
}
