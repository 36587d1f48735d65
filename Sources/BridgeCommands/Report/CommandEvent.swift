package import BridgeErrors
package import BridgeRecovery
package import BridgeSSH
import BridgeTerminal
import FoundationEssentials

/// Every event that bridgectl writes as a JSON line, with its fields (docs/events.md).
package enum CommandEvent: Sendable {
  /// A setting was ignored or changed.
  case warning(message: String)
  /// The connection goes through this proxy, which the environment variable `source` names.
  case proxy(host: String, port: Int, source: String)
  /// Logged in, with what was negotiated; a WebSocket has neither user nor algorithms.
  case connected(host: String, port: Int, user: String?, Algorithms?)
  /// The key of an unknown host was added to a file.
  case hostKeyAdded(host: String, port: Int, keyType: String, fingerprint: String, file: String)
  /// A shell or a command started.
  case started(hasTerminal: Bool, target: String? = nil)
  /// Text of the remote command's standard error.
  case standardError(text: String)
  /// What a host tells its users before they log in.
  case notice(host: String, text: String)
  /// The message that comes next on standard output is not one line of text.
  case message(number: Int, bytes: Int, lines: Int, isBinary: Bool)
  /// A durable session was started, or attached to in a role.
  case session(id: String, state: String, kind: String, role: String?)
  /// A durable session lost its link.
  case suspendedSession(id: String)
  /// `bridge-host` was installed.
  case installed(directory: String, sha256: String, version: String)
  /// A step of a copy.
  case copy(CopyEvent)
  /// A step of a diagnosis.
  case step(DoctorStep)
  /// Output of a durable session is no longer kept.
  case gap(from: UInt64, to: UInt64)
  /// Output of a durable session was left out: the terminal shows what is behind it.
  case omitted(from: UInt64, to: UInt64)
  /// A local port or unix socket takes connections.
  case forward(ForwardRule, port: Int)
  /// A step of a forwarded connection, or of a port of the host.
  case forwarded(Forwarder.Event)
  /// The counts of a run; the errors by case.
  case counters(retries: Int, reconnects: Int, queueDrops: Int, errors: [String: Int])
  /// The error that ended the run.
  case error(CommandFailure)
  /// The end of the process.
  case exit(code: Int32)
  /// Lines of this stream that were lost to a slow reader.
  case missed(count: Int)
  /// A step of the supervisor.
  case link(RecoveryEvent)

  /// The negotiated algorithms of an SSH connection.
  package struct Algorithms: Sendable {
    var keyExchange: String
    var hostKey: String
    var cipher: String
    var mac: String

    /// Creates the value.
    package init(keyExchange: String, hostKey: String, cipher: String, mac: String) {
      self.keyExchange = keyExchange
      self.hostKey = hostKey
      self.cipher = cipher
      self.mac = mac
    }
  }

  /// The field `event`.
  package var name: String {
    switch self {
    case .warning: "warning"
    case .proxy: "proxy"
    case .connected: "connected"
    case .hostKeyAdded: "hostKeyAdded"
    case .started: "started"
    case .standardError: "stderr"
    case .notice: "notice"
    case .message: "message"
    case .session: "session"
    case .suspendedSession: "suspendedSession"
    case .installed: "installed"
    case .copy(let event): event.name
    case .step: "step"
    case .gap: "gap"
    case .omitted: "omitted"
    case .forward: "forward"
    case .forwarded(.opened): "forwardOpened"
    case .forwarded(.closed): "forwardClosed"
    case .forwarded(.damaged): "forwardDamaged"
    case .forwarded(.refused): "forwardRefused"
    case .forwarded(.listening): "forward"
    case .forwarded(.unavailable): "forwardUnavailable"
    case .forwarded(.missed): "missed"
    case .counters: "counters"
    case .error: "error"
    case .exit: "exit"
    case .missed: "missed"
    case .link(let event): event.name
    }
  }

  /// Whether it is never dropped for a slow reader: there are few of them, near the end of a run.
  package var isFinal: Bool {
    switch self {
    case .counters, .error, .exit: true
    case .warning, .proxy, .connected, .hostKeyAdded, .started, .standardError, .notice, .message,
      .session, .suspendedSession, .installed, .copy, .step, .gap, .omitted, .forward, .forwarded,
      .missed,
      .link:
      false
    }
  }

  /// The line, without a line feed.
  package var line: JSONLine {
    var line = JSONLine(event: name)
    add(to: &line)
    return line
  }

  private func add(to line: inout JSONLine) {
    switch self {
    case .warning(let message): line.add("message", message)
    case .proxy(let host, let port, let source):
      line.addSite(host, port)
      line.add("source", PeerText.escaped(source))
    case .connected(let host, let port, let user, let algorithms):
      line.addSite(host, port)
      line.add("user", user.map { PeerText.escaped($0) })
      line.add("keyExchange", algorithms?.keyExchange)
      line.add("hostKey", algorithms?.hostKey)
      line.add("cipher", algorithms?.cipher)
      line.add("mac", algorithms?.mac)
    case .hostKeyAdded(let host, let port, let keyType, let fingerprint, let file):
      line.addSite(host, port)
      line.add("keyType", keyType)
      line.add("fingerprint", fingerprint)
      line.add("file", PeerText.escaped(file))
    case .started(let hasTerminal, let target):
      line.add("terminal", hasTerminal)
      line.add("target", target.map { PeerText.escaped($0) })
    case .standardError(let text): line.add("text", text)
    case .notice(let host, let text):
      line.add("host", host)
      line.add("text", PeerText.escaped(text, limit: 16 << 10, layout: .paragraph))
    case .message(let number, let bytes, let lines, let isBinary):
      line.add("number", number)
      line.add("bytes", bytes)
      line.add("lines", lines)
      line.add("binary", isBinary)
    case .session(let id, let state, let kind, let role):
      line.add("id", id)
      line.add("state", state)
      line.add("kind", kind)
      line.add("role", role)
    case .suspendedSession(let id): line.add("id", id)
    case .installed(let directory, let sha256, let version):
      line.add("directory", PeerText.escaped(directory))
      line.add("sha256", sha256)
      line.add("version", PeerText.escaped(version))
    case .copy(let event): event.add(to: &line)
    case .step(let step): step.add(to: &line)
    case .gap(let from, let to), .omitted(let from, let to):
      line.add("from", Int(clamping: from))
      line.add("to", Int(clamping: to))
    case .forward(let rule, let port): line.add(rule, port: port)
    case .forwarded(let event): line.add(event)
    case .counters(let retries, let reconnects, let queueDrops, let errors):
      line.add("retries", retries)
      line.add("reconnects", reconnects)
      line.add("queueDrops", queueDrops)
      line.add("errors", errors.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
    case .error(let failure):
      line.add(failure.error, failure.context, remedy: failure.remedy?.text)
      line.add("exitCode", Int(failure.exitCode))
    case .exit(let code): line.add("code", Int(code))
    case .missed(let count): line.add("count", count)
    case .link(let event): line.add(event)
    }
  }
}

extension JSONLine {
  fileprivate mutating func addSite(_ host: String, _ port: Int) {
    add("host", PeerText.escaped(host))
    add("port", port)
  }

  /// The fields that every event has first.
  package init(event: String) {
    self.init()
    add("v", 1)
    add("time", WallClock.now())
    add("event", event)
  }

  /// The fields of an error.
  package mutating func add(
    _ error: AppError, _ context: FailureContext?, remedy: String? = nil
  ) {
    add("case", error.caseName)
    add("title", PeerText.escaped(error.title))
    add("message", PeerText.escaped(error.shownMessage(in: context)))
    let advice = CommandAdvice.text(for: error, in: context).map { " " + $0 } ?? ""
    let hint = error.hint(in: context).map { PeerText.escaped($0) + advice }
    add("hint", remedy ?? hint)
    add("kind", context.map { "\($0.kind)" })
    add("phase", context?.phase.rawValue)
    add("host", context.map { PeerText.escaped($0.host) })
    add("address", context?.address.map { PeerText.escaped($0) })
    add("port", context?.port)
    add("proxy", context?.proxy)
    add("command", context?.command)
  }

  fileprivate mutating func add(_ event: Forwarder.Event) {
    switch event {
    case .opened(let id, let target):
      add("id", id)
      add("target", PeerText.escaped(target))
    case .damaged(let id, let error):
      add("id", id)
      add("case", error.caseName)
      add("message", PeerText.escaped(error.shownMessage()))
    case .closed(let id, let sent, let received, let isWhole):
      add("id", id)
      add("sent", Int(clamping: sent))
      add("received", Int(clamping: received))
      add("whole", isWhole)
    case .refused(let id, let target, let error):
      add("id", id)
      add("target", target.map { PeerText.escaped($0) })
      add("case", error.caseName)
      add("message", PeerText.escaped(error.shownMessage()))
    case .listening(let rule, let port): add(rule, port: port)
    case .unavailable(let rule, let error, let retry):
      add(rule, port: nil)
      add("case", error.caseName)
      add("message", PeerText.escaped(error.shownMessage()))
      add("milliseconds", retry.milliseconds)
    case .missed(let count): add("count", count)
    }
  }

  fileprivate mutating func add(_ rule: ForwardRule, port: Int?) {
    add("rule", PeerText.escaped(rule.description))
    add("side", rule.side.rawValue)
    add("port", port)
  }

  fileprivate mutating func add(_ event: RecoveryEvent) {
    add("source", event.source.map { PeerText.escaped($0) })
    add("generation", event.generation)
    add(event.step)
  }

  private mutating func add(_ step: RecoveryEvent.Step) {
    switch step {
    case .attempted(let number, let isStandby):
      add("number", number)
      add("standby", isStandby)
    case .entered(let phase): add("phase", phase.rawValue)
    case .recovered(let time, let attempts, let isFirst):
      add("milliseconds", time.milliseconds)
      add("attempts", attempts)
      add("first", isFirst)
    case .failed(let failure): add(failure.error, failure.context)
    case .classified(let retry): add("class", retry.rawValue)
    case .waiting(let plan): add(plan)
    case .suspended(let parent): add("by", PeerText.escaped(parent.description))
    case .suspected(let silent): add("milliseconds", silent.milliseconds)
    case .gaveUp(let failure, let plan):
      add("case", failure.error.caseName)
      add(plan)
    case .surfaced(let error):
      add("id", error.id.uuidString)
      add(error.error, error.context)
      add("options", error.error.recoveryOptions.map(\.kind.rawValue))
    case .withdrawn(let id): add("id", id.uuidString)
    case .missed(let count): add("count", count)
    case .becameHealthy, .resumed, .cleared, .switched, .lingered, .changed, .closed: break
    }
  }

  private mutating func add(_ plan: RecoveryPlan) {
    add("next", plan.next.rawValue)
    add("milliseconds", plan.at?.milliseconds)
    add("attempt", plan.attempt)
    add("attemptsLeft", plan.attemptsLeft)
    add("skippable", plan.isSkippable)
  }
}

extension Duration {
  var milliseconds: Int { Int(self / .milliseconds(1)) }
}
