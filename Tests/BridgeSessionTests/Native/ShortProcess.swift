import Foundation
import Glibc

/// A program that ends soon. Its output goes to a file: `Foundation.Process` waits for pipes that
/// servers of other tests have inherited.
enum ShortProcess {
  /// Runs it to its end: its standard output and its exit status (-1 where it could not run).
  static func run(
    _ arguments: [String], environment: [String: String]
  ) throws -> (output: String, status: Int32) {
    let file = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe argv.forEach { unsafe free($0) } }
    var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer { unsafe variables.forEach { unsafe free($0) } }
    var child = pid_t()
    guard unsafe posix_spawn(&child, arguments[0], &actions, nil, &argv, &variables) == 0 else {
      return ("", -1)
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    let text = try String(contentsOfFile: file, encoding: .utf8)
    return (text, status & 0x7F == 0 ? status >> 8 & 0xFF : -1)
  }

  /// Ends a process at once.
  static func kill(_ process: Int32) { _ = Glibc.kill(process, SIGKILL) }
}
