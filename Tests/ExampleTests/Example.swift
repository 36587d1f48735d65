import Foundation

/// Runs an example program that was built beside the tests.
enum Example {
  struct Run {
    var status: Int32
    var lines: [String]
  }

  /// What `name` prints on standard output, and how it ends; `home` stands in for the user's.
  static func run(
    _ name: String, _ arguments: [String] = [], home: String? = nil
  ) throws -> Run {
    let products = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let process = Process()
    process.executableURL = products.appending(path: name)
    process.arguments = arguments
    if let home {
      process.environment = ProcessInfo.processInfo.environment.merging(["HOME": home]) { $1 }
    }
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
