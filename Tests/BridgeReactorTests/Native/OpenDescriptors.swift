import Foundation

/// What the process has open, as the kernel tells (proc(5)).
enum Kernel {
  /// The open sockets, by inode: what other tests open and close meanwhile does not matter when a
  /// test looks for its own.
  static func sockets() -> Set<String> {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let targets = names.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
    return Set(targets.filter { $0.hasPrefix("socket:") })
  }
}
