import Glibc

/// The processes below one that we started, from /proc (proc_pid_task_children(5)).
///
/// sshd puts each session into a process session of its own, so a process group does not reach
/// them; parentage does.
enum ProcessFamily {
  /// Every descendant of `pid`, parents before children.
  static func descendants(of pid: pid_t) -> [pid_t] {
    let children = list("/proc/\(pid)/task/\(pid)/children")
    return children + children.flatMap(descendants)
  }

  /// The numbers in a file of the kernel's. Foundation loses 4 KiB on every one that is empty.
  private static func list(_ path: String) -> [pid_t] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer.prefix(count)
    }
    return text.split(separator: UInt8(ascii: " ")).compactMap {
      pid_t(String(decoding: $0, as: UTF8.self))
    }
  }

  /// Sends a signal to every descendant of `pid`.
  static func send(_ signal: Signal, descendantsOf pid: pid_t) {
    for child in descendants(of: pid) { kill(child, signal.number) }
  }
}
