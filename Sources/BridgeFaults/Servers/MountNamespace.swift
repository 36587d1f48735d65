/// A program that sees another file where the system has one: in a mount namespace of its own
/// (mount_namespaces(7)), which is gone with its last process.
enum MountNamespace {
  static let program = "/usr/bin/unshare"
  static let passwords = "/etc/shadow"
  static let accounts = "/etc/passwd"

  /// Each program becomes the next: the process id is that of the last.
  static func arguments(
    showing file: String, at place: String, to command: [String]
  ) -> [String] {
    let script = #"mount --bind "$1" "$2" && shift 2 && exec "$@""#
    return ["--mount", "/bin/sh", "-c", script, "sh", file, place] + command
  }

  /// Tries it, with a program that does nothing.
  static func isAllowed() async -> Bool {
    let trial = arguments(showing: passwords, at: passwords, to: ["/bin/true"])
    guard var child = try? ChildProcess(program, trial, log: "/dev/null") else { return false }
    return await child.finish()
  }
}
