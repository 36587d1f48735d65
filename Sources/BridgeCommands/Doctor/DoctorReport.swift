package import BridgeErrors
import BridgeReactor
package import BridgeSSH
package import BridgeWebSocket

/// Makes the steps of a diagnosis from the facts that connections report. Without clock and I/O:
/// each fact comes with the time since the beginning.
package struct DoctorReport: Sendable {
  /// The first failure, which decides how the program ends.
  package private(set) var failure: CommandFailure?
  /// The number of warnings.
  package private(set) var warnings = 0
  /// What is known of the commands of this program on the host.
  package enum Commands: Sendable {
    /// They run, as far as is known.
    case run
    /// Another one answers in their place.
    case replaced
    /// None ended in time.
    case endless
  }

  /// What is known of the commands of this program on the host.
  package var commands = Commands.run
  /// The phase that a connection is in.
  package private(set) var phase = ConnectionPhase.resolve

  /// Whether what fails on the host is the search for `bridge-host`.
  private var looksForHostProgram = false
  private var site = DoctorSite(name: "", port: 0)
  private var since = Duration.zero
  /// When each address was dialed.
  private var dialed: [NetworkAddress: Duration] = [:]
  private var finding: HostKeyFinding?
  private var certificate: CertificateDetails?
  private var isSecured = false
  private var isLoggedIn = false
  /// A key file that was refused.
  private var refusedFile: String?

  /// A report of nothing.
  package init() {}

  /// How the program ends.
  package var exitCode: Int32 { failure?.exitCode ?? 0 }

  /// The line under all steps, `time` after the beginning.
  package func summary(after time: Duration) -> String {
    let count = warnings == 1 ? "1 warning" : "\(warnings) warnings"
    let text =
      switch (failure, warnings) {
      case (nil, 0): "All is well"
      case (nil, _) where commands == .replaced:
        "The login works, and commands do not run; \(count)"
      case (nil, _) where commands == .endless:
        "The login works, and no command ended in time; \(count)"
      case (nil, _): "It works, with \(count)"
      case (_?, 0): "It does not work"
      case (_?, _): "It does not work; \(count)"
      }
    return "\(text), after \(DoctorStep.words(time))."
  }

  /// Begins with a host; returns what is doubtful in its settings.
  package mutating func begin(_ site: DoctorSite, at now: Duration) -> [DoctorStep] {
    let old = self
    self = DoctorReport()
    (failure, warnings) = (old.failure, old.warnings)
    self.site = site
    since = now
    return site.doubts.map { add($0) }
  }

  /// The configuration was read, in this time.
  package mutating func configured(
    from files: [String], warnings: [String], in time: Duration
  ) -> [DoctorStep] {
    let read = files.isEmpty ? "no configuration file" : files.joined(separator: ", ")
    return [add(DoctorStep(.config, .ok, "read \(read)", duration: time))]
      + warnings.map { add(DoctorStep(.config, .warning, $0)) }
  }

  /// A step begins.
  package mutating func enter(_ phase: ConnectionPhase, at now: Duration) {
    self.phase = phase
    since = now
  }

  /// The search for `bridge-host` begins.
  package mutating func lookForHostProgram(at now: Duration) {
    since = now
    looksForHostProgram = true
  }

  /// Takes a fact of an SSH connection in.
  package mutating func take(_ fact: SSHFact, at now: Duration) -> [DoctorStep] {
    switch fact {
    case .entered(let phase): return entered(phase, at: now)
    case .dial(let fact): return take(fact, at: now)
    case .identified(let line): return [step(.banner, .ok, line, at: now)]
    case .agreed(let agreement): return [step(.keyExchange, .ok, agreement.words, at: now)]
    case .hostKey(let finding):
      self.finding = finding
      return []
    case .asked(let time):
      since += time
      return []
    case .methods: return []
    case .offered(let offer): return [offered(offer, at: now)]
    case .channelOpened:
      guard phase == .openChannel else { return [] }
      phase = .execute
      return [step(.channel, .ok, "opened", at: now)]
    }
  }

  /// Takes a fact of a WebSocket connection in.
  package mutating func take(_ fact: WebSocketFact, at now: Duration) -> [DoctorStep] {
    switch fact {
    case .entered(let phase): return entered(phase, at: now)
    case .dial(let fact): return take(fact, at: now)
    case .tunnel(let status):
      guard (200..<300).contains(status) else { return [] }
      return [
        step(.connect, .ok, tried: site.name, "the proxy opened a tunnel to it", at: now)
      ]
    case .certificate(let details):
      certificate = details
      return []
    case .secured(let version, let cipher):
      isSecured = true
      let names = certificate.map { ", \($0.words)" } ?? ""
      return [step(.tls, .ok, "\(version) \(cipher)\(names)", at: now)]
    }
  }

  /// The connection is there.
  package mutating func connected(at now: Duration) -> [DoctorStep] {
    guard site.user != nil else { return [step(.upgrade, .ok, "a WebSocket", at: now)] }
    guard !isLoggedIn else { return [] }
    return [step(.login, .ok, "no credential was needed", at: now)]
  }

  /// Something failed; nothing of this host follows.
  package mutating func fail(_ failure: CommandFailure, at now: Duration) -> DoctorStep {
    let phase = failure.context?.phase ?? phase
    let kind = site.name.isEmpty ? .config : kind(of: phase)
    let error = failure.error
    let hint = [
      error.hintBelowMessage(in: failure.context),
      CommandAdvice.text(for: error, in: failure.context, ofJumpHost: site.isHop),
      kind == .login ? admission : nil,
    ].compactMap(\.self).joined(separator: " ")
    var message = error.shownMessage(in: failure.context)
    if kind == .tls, let certificate { message += " It shows a certificate \(certificate.words)." }
    let lines = kind == .hostKey ? finding?.lines ?? [] : []
    let failed = DoctorStep(
      kind, of: site.name.isEmpty ? nil : site.name, .failed, message, duration: now - since,
      sources: lines + site.sources(of: kind), remedy: hint.isEmpty ? nil : hint,
      command: failure.context?.command, failure: failure)
    return add(failed)
  }

  /// Adds a step that is decided elsewhere.
  package mutating func step(
    _ kind: DoctorStep.Kind, _ outcome: DoctorStep.Outcome, tried: String? = nil, _ message: String,
    remedy: String? = nil, sources: [String]? = nil, asked: Duration = .zero, at now: Duration
  ) -> DoctorStep {
    defer { since = now }
    return add(
      DoctorStep(
        kind, of: site.name, outcome, tried: tried, message,
        duration: max(.zero, now - since - asked), sources: sources ?? site.sources(of: kind),
        remedy: remedy))
  }

  private mutating func add(_ step: DoctorStep) -> DoctorStep {
    if step.outcome == .warning { warnings += 1 }
    failure = failure ?? step.failure
    return step
  }
}

// What a fact says.
extension DoctorReport {
  private mutating func entered(_ next: ConnectionPhase, at now: Duration) -> [DoctorStep] {
    let last = phase
    var steps: [DoctorStep] = []
    if next == .banner, dialed.isEmpty, let way = site.through {
      steps.append(step(.connect, .ok, "by \(way)", at: now))
    }
    if last == .hostKey, let finding { steps.append(verified(finding, at: now)) }
    enter(next, at: now)
    return steps
  }

  private mutating func take(_ fact: DialFact, at now: Duration) -> [DoctorStep] {
    switch fact {
    case .resolved(let addresses):
      let text = addresses.map(\.description).joined(separator: ", ")
      return [step(.resolve, .ok, text, at: now)]
    case .began(let address):
      dialed[address] = now
      return []
    case .ended(let address, let ending):
      since = dialed[address] ?? since
      let place = address.family == .v6 ? "[\(address)]" : "\(address)"
      let outcome: DoctorStep.Outcome = ending == .connected ? .ok : .no
      return [step(.connect, outcome, tried: "\(place):\(site.port)", ending.words, at: now)]
    }
  }

  /// The login begins, so the key was taken.
  private mutating func verified(_ finding: HostKeyFinding, at now: Duration) -> DoctorStep {
    let key = "\(finding.keyType) \(finding.fingerprint)"
    let sources = finding.lines + site.sources(of: .hostKey)
    switch finding.status {
    case .trusted:
      return step(.hostKey, .ok, tried: key, "known", sources: sources, at: now)
    case .newType(_, let detail):
      return step(
        .hostKey, .warning, tried: key, detail, remedy: "Accepted now by your answer.",
        sources: sources, at: now)
    case .unknown:
      return step(.hostKey, .ok, tried: key, "was not known, and is now", sources: sources, at: now)
    case .changed(let detail, _), .revoked(let detail):
      return step(.hostKey, .failed, tried: key, detail, sources: sources, at: now)
    }
  }

  private mutating func offered(_ offer: OfferFact, at now: Duration) -> DoctorStep {
    let key = [offer.keyType, offer.fingerprint].compactMap(\.self).joined(separator: " ")
    var sources = site.sources(of: .login)
    let tried: String
    switch offer.credential {
    case .keyFile(let path):
      tried = path + (key.isEmpty ? "" : " (\(key))")
      sources = site.identities[path].map { [$0] } ?? []
    case .agent(let path): tried = "agent at \(path)"
    case .agentKey: tried = "key of the agent (\(key))"
    case .password: tried = "password"
    case .keyboardInteractive: tried = "keyboard-interactive"
    }
    let (outcome, message) = words(of: offer.outcome)
    isLoggedIn = isLoggedIn || offer.outcome == .accepted
    // Where the server takes keys at all.
    if case (.keyFile(let path), .refused(let methods)) = (offer.credential, offer.outcome),
      methods.contains("publickey")
    {
      refusedFile = refusedFile ?? path
    }
    return step(
      .login, outcome, tried: tried, message, sources: sources, asked: offer.asked, at: now)
  }

  private func words(of outcome: OfferFact.Outcome) -> (DoctorStep.Outcome, String) {
    switch outcome {
    case .accepted: return (.ok, "accepted")
    case .partial(let methods):
      return (.ok, "accepted; \(methods.joined(separator: ", ")) must follow")
    case .refused(let methods):
      return (.no, "refused; the server takes \(methods.joined(separator: ", "))")
    case .unusable(let reason): return (.warning, "not offered: \(reason)")
    case .notOffered(let reason): return (.no, "not offered: \(reason)")
    case .listed(let held, let offered):
      let keys = held == 1 ? "1 key" : "\(held) keys"
      return (offered == 0 ? .no : .ok, "holds \(keys); \(offered) may be offered")
    }
  }

  /// What the administrator of the host can do for a key that was refused.
  private var admission: String? {
    refusedFile.map { path in
      "To admit \(PeerText.escaped(path, limit: 512)), its public half must be in "
        + "~/.ssh/authorized_keys of \(PeerText.escaped(site.user ?? "", limit: 128)) there."
    }
  }

  private func kind(of phase: ConnectionPhase) -> DoctorStep.Kind {
    // Nothing but the search opens a channel behind it.
    if looksForHostProgram { return .bridgeHost }
    return switch phase {
    case .resolve: .resolve
    case .dial: .connect
    case .banner: .banner
    case .keyExchange: .keyExchange
    case .hostKey: .hostKey
    case .authenticate: .login
    case .openChannel: .channel
    case .execute, .stream, .close: site.user == nil ? .upgrade : .command
    case .upgrade: site.isSecure && !isSecured ? .tls : .upgrade
    }
  }
}

extension CertificateDetails {
  fileprivate var words: String {
    let whom = names.isEmpty ? "without names" : "for \(names)"
    return "\(whom), issued by \(issuer), valid until \(expires)"
  }
}
