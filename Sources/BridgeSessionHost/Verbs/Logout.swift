/// Whether a session outlives the logout of its user, from files alone.
enum Logout {
  /// "yes", or why not and the command that changes it.
  static func answer() -> String {
    guard (try? Directory("/run/systemd/system")) != nil else { return "yes" }
    let name = Programs.variable("USER") ?? Programs.variable("LOGNAME") ?? ""
    let linger = try? Directory("/var/lib/systemd/linger")
    if !name.isEmpty, !name.contains("/"), (try? linger?.openForReading(name)) != nil {
      return "yes"
    }
    guard killsUserProcesses else { return "yes" }
    return "no: systemd ends a user's processes at logout (KillUserProcesses=yes); "
      + "loginctl enable-linger changes it"
  }

  private static var killsUserProcesses: Bool {
    guard let folder = try? Directory("/etc/systemd"),
      let bytes = try? folder.read("logind.conf", limit: 64 << 10)
    else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
      line.filter { $0 != " " }.lowercased() == "killuserprocesses=yes"
    }
  }
}
