import Foundation

@testable import BridgeSessionHost

/// A file system of a test's own that is soon full.
final class SmallDisk {
  let path: String

  static let canMount =
    TestMachine.isRoot && FileManager.default.isExecutableFile(atPath: "/bin/mount")

  /// Nil where this machine mounts nothing.
  init?(at folder: URL, size: String) throws {
    let place = folder.appending(path: "disk")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    path = place.path
    let mount = try RunningProcess(
      ["/bin/mount", "-t", "tmpfs", "-o", "size=\(size),mode=700", "none", path], environment: [:])
    guard mount.finish().status == 0 else { return nil }
  }

  deinit {
    if let unmount = try? RunningProcess(["/bin/umount", "-l", path], environment: [:]) {
      _ = unmount.finish()
    }
  }
}
