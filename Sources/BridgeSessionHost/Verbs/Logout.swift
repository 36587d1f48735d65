/// Whether a session outlives the logout of its user, from files alone. Nothing is enabled here.
enum Logout {
  /// "yes", or why not and the command that changes it.
  static func answer() -> String { scope != nil ? "yes" : answerWithoutScope }

  /// `answer` where a process of the login itself must stay.
  static var answerWithoutScope: String {
    guard isBootedBySystemd, killsUserProcesses else { return "yes" }
    if lingers {
      return "no: systemd ends a user's processes at logout (KillUserProcesses=yes) and "
        + "systemd-run made no scope for this one; systemctl --user status shows why"
    }
    return "no: systemd ends a user's processes at logout (KillUserProcesses=yes); "
      + "loginctl enable-linger changes it"
  }

  /// What runs a keeper in a scope of its own, which stays with the user's manager after the last
  /// logout; nil where that manager does not stay (no linger), or there is none.
  static var scope: (path: String, arguments: [[UInt8]])? {
    guard isBootedBySystemd, lingers, Programs.variable("XDG_RUNTIME_DIR") != nil,
      let path = Programs.find("systemd-run"), let own = Programs.ownFile
    else { return nil }
    let arguments = [
      "systemd-run", "--user", "--scope", "--collect", "--quiet", "--", own, KeepVerb.name,
    ]
    return (path, arguments.map { Array($0.utf8) })
  }

  private static var isBootedBySystemd: Bool { (try? Directory("/run/systemd/system")) != nil }

  private static var lingers: Bool {
    let name = Programs.variable("USER") ?? Programs.variable("LOGNAME") ?? ""
    guard !name.isEmpty, !name.contains("/") else { return false }
    let linger = try? Directory("/var/lib/systemd/linger")
    return (try? linger?.openForReading(name)) != nil
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
