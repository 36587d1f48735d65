import Foundation

/// A directory of one test's own, gone when the value is.
final class StoreFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "bridge-store-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// Runs a program to its end.
@discardableResult
func runTool(_ path: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
  let process = Process()
  process.executableURL = URL(filePath: path)
  process.arguments = arguments
  let pipe = Pipe()
  (process.standardOutput, process.standardError) = (pipe, pipe)
  process.standardInput = FileHandle.nullDevice
  try process.run()
  let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: data, as: UTF8.self))
}
