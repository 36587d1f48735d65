import BridgeFaults
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
    let start = ChildStart(
      input: .noInput, output: .file(file, O_WRONLY | O_CREAT), error: .noOutput,
      environment: environment)
    guard let child = try? start.start(arguments[0], Array(arguments.dropFirst())) else {
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
