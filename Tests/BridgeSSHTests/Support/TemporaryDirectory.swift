import Foundation

/// A directory of one test's own, gone when the value is.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let parent = FileManager.default.temporaryDirectory
    let url = parent.appendingPathComponent("bridge-ssh-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    try write(Data(text.utf8), to: name, mode: mode)
  }

  @discardableResult
  func write(_ data: Data, to name: String, mode: Int = 0o600) throws -> String {
    try data.write(to: URL(fileURLWithPath: file(name)))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    return file(name)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: file(name), encoding: .utf8)
  }

  func mode(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
