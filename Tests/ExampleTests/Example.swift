import Foundation

/// Runs an example program that was built beside the tests.
enum Example {
  struct Run {
    var status: Int32
    var lines: [String]
  }

  /// What `name` prints on standard output, and how it ends.
  static func run(_ name: String, _ arguments: [String] = []) throws -> Run {
    let products = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let process = Process()
    process.executableURL = products.appending(path: name)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let lines = String(decoding: data, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    return Run(status: process.terminationStatus, lines: lines.map(String.init))
  }
}
