import Foundation

/// A home folder with one key and one known_hosts file.
struct Home {
  let path: String

  init(identity: String, knownHosts: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "bridge-\(UUID())")
    let ssh = folder.appending(path: ".ssh")
    try FileManager.default.createDirectory(at: ssh, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: URL(filePath: identity), to: ssh.appending(path: "id_ed25519"))
    try Data(knownHosts.utf8).write(to: ssh.appending(path: "known_hosts"))
    path = folder.path
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
