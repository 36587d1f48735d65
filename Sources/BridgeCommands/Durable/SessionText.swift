import BridgeErrors
package import BridgeSessionProtocol

/// What is said of durable sessions: words, JSON lines, sentences.
package enum SessionText {
  /// As many digits of an id tell sessions of one user apart.
  package static let shortID = 12

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// The command of a session for a person.
  static func command(_ status: SessionStatus) -> String {
    status.command.map { PeerText.escaped(text($0), limit: 200) } ?? "(shell)"
  }

  /// The state of a session in a few words.
  package static func state(_ status: SessionStatus) -> String {
    switch status.state {
    case .claimed: "not started"
    case .running:
      switch status.memory {
      case nil where status.waitsForReader: "running: waits for a reader, its output is full"
      case nil where status.node != nil:
        "running on \(PeerText.escaped(status.node ?? "", limit: StartRequest.longestName))"
      case nil: "running"
      case .output: "running: disk full, newest output in memory"
      case .end: "ended: disk full, output and status in memory"
      }
    case .ended: status.end.map(end) ?? "ended"
    case .keeperDied: end(status.end ?? .unknownKeeperDied)
    case .rebooted: end(.unknownRebooted)
    }
  }

  /// How a program ended.
  package static func end(_ end: ProgramEnd) -> String {
    switch end {
    case .exited(let status): "exit \(status)"
    case .signaled(let number, let dumpedCore):
      signal(number) + (dumpedCore ? " (core dumped)" : "")
    case .unknownKeeperDied: "keeper died: exit status unknown"
    case .orphaned: "keeper died: the program still runs, out of reach; `kill` ends it"
    case .unknownRebooted: "lost by a reboot: exit status unknown"
    }
  }

  /// A signal in words: `SIGTERM`, `signal 40`.
  package static func signal(_ number: UInt8) -> String {
    signalNames[number].map { "SIG\($0)" } ?? "signal \(number)"
  }

  /// As a server of SSH names them (RFC 4254, 6.10), by the numbers that Linux has on a host of
  /// any architecture but MIPS and SPARC (signal(7)).
  package static let signalNames: [UInt8: String] = [
    1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 6: "ABRT", 8: "FPE", 9: "KILL", 10: "USR1",
    11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM",
  ]

  /// A count of bytes: `17B`, `4.0K`, `64M`.
  package static func size(_ bytes: UInt64) -> String { SizeArgument.text(bytes) }

  /// A time in its largest unit: `42s`, `7m`, `3h`, `12d`.
  package static func age(_ seconds: UInt64) -> String {
    switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3600)h"
    case _: "\(seconds / 86_400)d"
    }
  }

  /// A time to wait in its largest unit, of which a part counts as one: `7d` of 6.1 days.
  package static func wait(_ seconds: UInt64) -> String {
    let unit: UInt64 =
      switch seconds {
      case ..<60: 1
      case ..<3600: 60
      case ..<86_400: 3600
      case _: 86_400
      }
    return age((seconds + unit - 1) / unit * unit)
  }

  /// Who writes to a session that this client only reads.
  package static func writer(_ welcome: Welcome) -> String {
    let name = welcome.writerName.map { "client \(PeerText.escaped($0, limit: 128))" }
    let since = welcome.writerAge.map { " (attached \(age($0)) ago)" } ?? ""
    return "\(name ?? "another client") writes to this session\(since)"
  }

  /// The line where output of a session is not on the screen.
  package static func omitted(_ bytes: UInt64, session: String) -> String {
    let size = CopyProgress.size(Int(clamping: bytes))
    return "[\(size) left out to catch up: bridgectl logs has it, session \(session.prefix(8))]"
  }

  /// What a person calls a session: its name, or the beginning of its id.
  package static func label(_ session: SessionStatus) -> String {
    session.name.map { PeerText.escaped(text($0), limit: StartRequest.longestName) }
      ?? String("\(session.session)".prefix(shortID))
  }

  /// A sentence about the running terminals of `sessions` that have no client; nil for none.
  package static func forgotten(
    _ sessions: [SessionStatus], host: String, now: UInt64
  ) -> String? {
    let running = sorted(sessions).filter {
      $0.state == .running && $0.memory != .end && $0.kind == .terminal && $0.attached == 0
    }
    guard let newest = running.last else { return nil }
    let name = ConnectRequest.operand(label(newest))
    let age = age(of: newest, now: now)
    let count =
      running.count == 1
      ? "another shell goes on there without a client, started \(age) ago"
      : "\(running.count) other shells go on there without a client, the newest started \(age) ago"
    return "\(count): `bridgectl attach \(host) \(name)` returns to it."
  }

  /// How long ago a session was started, by the host's clock where that is known; `now` is that of
  /// this machine.
  package static func age(of session: SessionStatus, now: UInt64) -> String {
    let now = session.now ?? now
    return age(now > session.startedAt ? now - session.startedAt : 0)
  }

  /// The sessions in the order in which they were started.
  package static func sorted(_ sessions: [SessionStatus]) -> [SessionStatus] {
    sessions.sorted { ($0.startedAt, "\($0.session)") < ($1.startedAt, "\($1.session)") }
  }

  /// A session as one JSON object (docs/events.md).
  package static func line(_ status: SessionStatus) -> JSONLine {
    var line = JSONLine()
    line.add("v", 1)
    line.add("id", "\(status.session)")
    line.add("name", status.name.map { PeerText.escaped(text($0)) })
    line.add("state", status.state.rawValue)
    line.add("kind", status.kind.rawValue)
    line.add("command", status.command.map { PeerText.escaped(text($0)) })
    line.add("process", status.process.map { Int(clamping: $0) })
    line.add("started", Int(clamping: status.startedAt))
    line.add("finished", status.endedAt.map { Int(clamping: $0) })
    line.add(status.end)
    line.add("memory", status.memory?.rawValue)
    line.add("node", status.node.map { PeerText.escaped($0) })
    if status.waitsForReader { line.add("waitsForReader", true) }
    if status.end == .orphaned { line.add("orphaned", true) }
    line.add("oldest", Int(clamping: status.oldest))
    line.add("newest", Int(clamping: status.newest))
    line.add("committed", Int(clamping: status.committed))
    line.add("attached", Int(clamping: status.attached))
    line.add("hangsUp", status.hangsUpAt.map { Int(clamping: $0) })
    line.add("survivesLogout", status.survivesLogout == "yes")
    if status.survivesLogout != "yes", !status.survivesLogout.isEmpty {
      line.add("logout", PeerText.escaped(status.survivesLogout))
    }
    return line
  }
}

extension JSONLine {
  /// How a program ended; nothing where that is not recorded.
  mutating func add(_ end: ProgramEnd?) {
    switch end {
    case .exited(let status): add("exitStatus", Int(status))
    case .signaled(let number, let dumpedCore):
      add("signal", Int(number))
      add("core", dumpedCore)
    case .unknownKeeperDied, .orphaned, .unknownRebooted, nil: break
    }
  }
}
