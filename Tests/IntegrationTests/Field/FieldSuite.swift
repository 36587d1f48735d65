import BridgeFaults

extension FieldTable {
  /// The cells that are tried with every run of the tests: each world in two stories, each story in
  /// six worlds. All of them: scripts/field.
  static var suite: [Cell] {
    rows.flatMap { name, kind, stories in
      World.named(name).map { world in
        stories.map { Cell(story: $0, world: world, expected: kind) }
      } ?? []
    }
  }

  /// The slow ones first, beside all the others.
  private static let rows: [(world: String, kind: Finding.Kind?, stories: [Story])] = [
    ("slow-login", .right, [.command, .forward]),
    ("dark", .right, [.commandThroughOutage, .leaveThroughOutage]),
    (
      "sshd", .right,
      [.messages, .messagesThroughOutage, .shellThroughOutage, .forwardThroughOutage]
    ),
    ("100ms", .right, [.commandThroughOutage, .messages, .messagesThroughOutage]),
    ("1MBs", .right, [.shell, .copyThroughOutage, .forwardThroughOutage]),
    ("200KBs", .right, [.shell, .forward, .messagesThroughOutage]),
    ("refused", .right, [.forwardThroughOutage, .messagesThroughOutage]),
    ("loss", .right, [.copy, .messages]),
    ("resets", .right, [.copyThroughOutage]),
    // A reset in the login of a verb that dials once is a named error.
    ("resets", nil, [.leave]),
    ("tbf", .right, [.shell, .forwardThroughOutage]),
    ("netem", .right, [.command, .copy]),
    ("busy", .right, [.leaveThroughOutage, .messagesThroughOutage]),
    ("one-thread", .right, [.shellThroughOutage, .leaveThroughOutage, .messages]),
    ("64-descriptors", .right, [.forward, .copyThroughOutage, .messagesThroughOutage, .messages]),
    ("plain", .right, [.shellThroughOutage, .copy]),
    ("plain", .refused, [.commandThroughOutage]),
    ("penalties", .right, [.command, .copy]),
    ("one-session", .right, [.command, .copy]),
    ("one-session-host", .right, [.command, .shell]),
    ("forced", .asSSH, [.command, .shell]),
    ("no-terminal", .right, [.command, .leave]),
    ("banner", .right, [.copy, .messages]),
    ("greeting", .right, [.command, .forward]),
    ("rekey", .right, [.copyThroughOutage, .forwardThroughOutage]),
    ("dropbear", .right, [.command, .shell]),
    // The device ends the connection after it: without a status the outcome is not known.
    ("echo", .refused, [.command, .copy]),
    ("echo", .right, [.forward, .shell]),
    ("home-read-only", .right, [.commandThroughOutage, .leave]),
    ("home-full", .right, [.command, .leaveThroughOutage]),
    ("home-noexec", .right, [.shell, .leave]),
    ("home-renames", .right, [.commandThroughOutage, .leave]),
    ("no-locks", .right, [.command, .copy]),
    ("home-0711", .right, [.command, .leave]),
    ("fish", .right, [.copy, .shellThroughOutage, .leaveThroughOutage]),
    ("tcsh", .right, [.shellThroughOutage, .leaveThroughOutage]),
    ("zsh", .right, [.shell, .copyThroughOutage]),
    ("home-noexec", .right, [.copyThroughOutage]),
    ("dash", .right, [.shellThroughOutage, .commandThroughOutage, .forwardThroughOutage]),
    ("startup-2mib", .right, [.forward, .copy]),
    ("startup-redirect", .right, [.forward]),
    ("startup-redirect", .asSSH, [.shell]),
    ("startup-redirect", .refused, [.copy]),
    ("startup-exec", .right, [.forward]),
    ("startup-exec", .asSSH, [.command]),
    ("startup-read", .right, [.shell, .forward]),
  ]
}
