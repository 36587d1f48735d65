import Foundation
import Glibc

/// The descriptors that a child process must not inherit: NIO's sockets and Foundation's files are
/// not close-on-exec, and one that a child holds is not closed, for its peer, by closing ours.
enum InheritedDescriptors {
  /// Closes all but the standard streams and `kept` in the child to be started.
  static func close(
    in actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, but kept: Int32? = nil
  ) {
    for descriptor in 3..<end where descriptor != kept {
      unsafe posix_spawn_file_actions_addclose(actions, descriptor)
    }
  }

  /// Beyond the last open descriptor, with space for those that other threads open meanwhile. To
  /// close what is not open does no harm.
  private static var end: Int32 {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return (open.compactMap { Int32($0) }.max() ?? 255) + 64
  }
}
