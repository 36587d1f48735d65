import Glibc

/// Ends a server when this process dies without having stopped it.
///
/// A shell that waits for the other end of a socket pair: the kernel closes our end however we
/// die. Then it kills the server with all its sessions and removes the folder.
struct Watchdog: Sendable {
  private var shell: ChildProcess
  private let lifeline: Int32

  private static let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

  private static let script = """
    read -r _
    tree() { for p in $(cat "/proc/$1/task/$1/children"); do tree "$p"; echo "$p"; done; }
    kill -9 $(tree "$1") "$1"
    rm -rf "$2"
    """

  init(server: pid_t, folder: String) throws(FaultError) {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Self.kind, 0, &ends) == 0 else {
      throw .cannotStart(program: "watchdog", errno: errno)
    }
    defer { close(ends[0]) }
    lifeline = ends[1]
    let arguments = ["-c", Self.script, "watchdog", "\(server)", folder]
    do throws(FaultError) {
      shell = try ChildProcess("/bin/sh", arguments, input: ends[0], log: "/dev/null")
    } catch {
      close(ends[1])
      throw error
    }
  }

  /// Calls it off: the server is about to be ended in order.
  mutating func callOff() async {
    await shell.end()
    close(lifeline)
  }
}
