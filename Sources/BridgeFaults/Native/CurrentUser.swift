import Glibc

/// The user of this process, as sshd sees it.
enum CurrentUser {
  /// The login name of the effective user; its number when it has none.
  static var name: String {
    guard let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name else {
      return "\(geteuid())"
    }
    return unsafe String(cString: name)
  }

  /// Whether it may do everything.
  static var isRoot: Bool { geteuid() == 0 }

  /// Makes the folder sshd(8) insists on when started by root; a fresh container has none.
  static func makePrivilegeSeparationFolder() {
    if geteuid() == 0 { unsafe mkdir("/run/sshd", 0o755) }
  }
}
