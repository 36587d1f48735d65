import FoundationEssentials

/// A small file of what earlier runs found out. Where it cannot be written, nothing is remembered.
enum StateFile {
  /// Where a file of this name is kept (XDG Base Directory Specification).
  static func path(_ name: String, home: String, _ variables: [String: String]) -> String {
    let state = variables["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (state ?? "\(home)/.local/state") + "/bridge/\(name)"
  }

  /// Changes the file at `path`, whole or not at all.
  static func write(_ text: String, to path: String) {
    let folder = URL(filePath: path).deletingLastPathComponent()
    try? FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try? Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
  }
}
