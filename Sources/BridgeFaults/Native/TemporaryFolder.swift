import Foundation

/// A folder of a peer's own, readable by its user only, for keys, configuration and log.
struct TemporaryFolder: Sendable {
  let path: String

  init() throws(FaultError) {
    let parent = FileManager.default.temporaryDirectory.path
    var template = Array("\(parent)/bridge-faults-XXXXXX".utf8CString)
    guard let name = unsafe mkdtemp(&template) else {
      throw .fileUnusable(path: parent, detail: "mkdtemp: errno \(errno)")
    }
    path = unsafe String(cString: name)
  }

  /// The path of a file in it.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file that only its owner may read, over what was there.
  func write(_ text: String, to name: String) throws(FaultError) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)), options: .atomic)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: file(name))
    } catch {
      throw .fileUnusable(path: file(name), detail: "\(error)")
    }
  }

  /// The content of a file; empty when there is none.
  func read(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  func remove(_ name: String) { try? FileManager.default.removeItem(atPath: file(name)) }

  /// Removes it with all it holds.
  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
