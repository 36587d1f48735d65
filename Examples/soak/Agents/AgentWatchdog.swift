import BridgeFaults
import Foundation

/// Ends all that a soak of agent hosts has started where the soak dies first: a shell that waits
/// for the end of its input, however that comes.
struct AgentWatchdog: Sendable {
  private let lifeline: Pipe
  private let pid: Int32

  /// The folder of the soak is an argument of its processes, a home in the environment of others.
  private static let script = """
    read -r _
    folder=$1
    kill -QUIT "$(head -n 1 "$folder/database/data/postmaster.pid")"
    for process in /proc/[0-9]*; do
      number=${process#/proc/}
      [ "$number" = $$ ] && continue
      grep -qaF "$folder/" "$process/cmdline" && kill -9 "$number"
      for home in "$@"; do
        grep -qaF "HOME=$home" "$process/environ" && kill -9 "$number"
      done
    done
    rm -rf "$folder"
    """

  init(folder: String, homes: [String]) throws(FaultError) {
    lifeline = Pipe()
    pid = try ChildStart(
      input: .descriptor(lifeline.fileHandleForReading.fileDescriptor), output: .noOutput,
      error: .noOutput, group: .own
    ).start("/bin/sh", ["-c", Self.script, "sh", folder] + homes)
    try? lifeline.fileHandleForReading.close()
  }

  /// Calls it off: everything has ended in order.
  func callOff() {
    _ = kill(pid, SIGKILL)
    try? lifeline.fileHandleForWriting.close()
  }
}
