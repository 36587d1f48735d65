/// Whether a session outlives the logout of its user. Nothing is enabled here.
enum Logout {
  /// "yes", or why not and the command that changes it, or why that is not known.
  static func answer() -> String { scope != nil ? "yes" : answerWithoutScope }

  /// `answer` where a process of the login itself must stay.
  static var answerWithoutScope: String {
    guard isBootedBySystemd else { return "yes" }
    guard let settings = LogindSettings.current(), let kills = settings.ends(user) else {
      return "unknown: whether systemd ends a user's processes at logout cannot be found out here "
        + "(KillUserProcesses); loginctl enable-linger makes sure that it does not"
    }
    guard kills else { return "yes" }
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
    guard !user.isEmpty, !user.contains("/") else { return false }
    let linger = try? Directory("/var/lib/systemd/linger")
    return (try? linger?.openForReading(user)) != nil
  }

  private static var user: String {
    Programs.variable("USER") ?? Programs.variable("LOGNAME") ?? ""
  }
}
