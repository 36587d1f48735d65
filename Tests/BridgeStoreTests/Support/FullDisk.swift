import Foundation

/// A file system of a test's own that is soon full.
final class FullDisk {
  let path: String

  static let canMount =
    NSUserName() == "root" && FileManager.default.isExecutableFile(atPath: "/bin/mount")

  init(_ path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try runTool("/bin/mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "none", path])
  }

  func grow() throws { try runTool("/bin/mount", ["-o", "remount,size=16m", path]) }

  deinit { _ = try? runTool("/bin/umount", ["-l", path]) }
}

/// A file that is not writable for a while, not for root either.
struct ReadOnlyFile {
  private let path: String

  init(_ path: String) throws {
    self.path = path
    if NSUserName() == "root" {
      try runTool("/bin/mount", ["--bind", "-o", "ro", path, path])
    } else {
      try runTool("/bin/chmod", ["400", path])
    }
  }

  func end() {
    if NSUserName() == "root" {
      _ = try? runTool("/bin/umount", [path])
    } else {
      _ = try? runTool("/bin/chmod", ["600", path])
    }
  }
}
