import Foundation
import Glibc

/// The processes below one that we started, from /proc (proc_pid_task_children(5)).
///
/// sshd puts each session into a process session of its own, so a process group does not reach
/// them; parentage does.
enum ProcessTree {
  /// Every descendant of `pid`, parents before children.
  static func descendants(of pid: pid_t) -> [pid_t] {
    let path = "/proc/\(pid)/task/\(pid)/children"
    let list = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let children = list.split(separator: " ").compactMap { pid_t($0) }
    return children + children.flatMap(descendants)
  }

  /// Sends a signal to every descendant of `pid`.
  static func send(_ signal: Signal, descendantsOf pid: pid_t) {
    for child in descendants(of: pid) { kill(child, signal.number) }
  }
}
