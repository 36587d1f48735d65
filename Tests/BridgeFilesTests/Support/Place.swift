import Foundation

/// A directory of one test.
final class Place {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/bridge-files-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ bytes: [UInt8], to name: String) throws {
    let folder = URL(filePath: file(name)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: file(name)))
  }

  func read(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: file(name)).map { Array($0) }
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: file(name), withDestinationPath: target)
  }

  /// The names below a directory.
  func names(_ name: String) -> [String] {
    ((try? FileManager.default.subpathsOfDirectory(atPath: file(name))) ?? []).sorted()
  }

  /// Bytes that differ everywhere.
  static func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ seed) >> 3 ^ $0 >> 11) }
  }
}
