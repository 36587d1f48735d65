import Foundation

/// The sshd of this machine.
enum SSHServerProgram {
  /// Where Debian has it.
  static let path = "/usr/sbin/sshd"

  /// Whether it knows `PerSourcePenalties` (OpenSSH 9.8): an older one does not start with it.
  static let hasPenalties =
    (try? Data(contentsOf: URL(fileURLWithPath: path)))?
    .range(of: Data("persourcepenalties".utf8)) != nil
}
