import BridgeErrors
package import BridgeRecovery
import BridgeTerminal

// What a person reads about the link.
extension LinkStatus {
  /// The keys that act on the link now.
  package enum Keys: Sendable, Equatable {
    /// None: there is no keyboard, or it is the terminal's.
    case none
    /// The escapes of a shell. What is typed is held.
    case escapes(isLineStart: Bool, canDetach: Bool)
    /// None, and what is typed is held.
    case held
    /// The escapes of a viewer, who types nothing to the program.
    case viewing
    /// Single keys.
    case bare
  }

  /// The lines of the banner at `now`; none while all is well and nothing is asked, and in the
  /// first moment after a cut.
  ///
  /// - Parameters:
  ///   - held: how many typed bytes have not reached the program, as far as is known.
  ///   - unsent: how many of them were not sent.
  package func lines(
    at now: Moment, held: Int = 0, unsent: Int = 0, keys: Keys, color: Bool, unicode: Bool
  ) -> [String] {
    let outage: Outage
    switch state {
    case .up:
      if let askedAfter { return [Self.question(unsent: unsent, after: askedAfter)] }
      let waiting = stallLines(at: now, held: held, unsent: unsent, keys)
      return waiting.isEmpty ? [hint?.text].compactMap(\.self) : waiting
    case .over: return []
    case .suspected(_, let suspicion): outage = suspicion
    case .opening(let opening):
      guard opening.shown != nil else { return [] }
      outage = opening
    case .down(let down):
      let isShort = if case .cut = down.start { true } else { false }
      // It may be over at once.
      let isQuiet = down.shown == nil && answer == nil
      if isShort, isQuiet, down.time(at: now) <= RecoveryDefaults.settleWindow { return [] }
      outage = down
    }
    var lines = banner(of: outage, at: now, keys, color: color, unicode: unicode)
    lines += keyLines(keys, held: held, unsent: unsent, outage)
    if lostBytes > 0 {
      lines.append("  \(lostBytes) typed \(lostBytes == 1 ? "byte was" : "bytes were") not sent.")
    }
    if let way = disconnecting { lines.append("  \(way.name) again disconnects.") }
    return lines
  }

  /// That the session does not go on, once that takes longer than a slow host needs.
  private func stallLines(at now: Moment, held: Int, unsent: Int, _ keys: Keys) -> [String] {
    guard let stall, now - stall.since >= Self.stallWindow else { return [] }
    let time = Self.seconds(now - stall.since)
    let lines = ["The session on \(host) has not answered for \(time); it is asked again."]
    return lines + (stall.reason.map { ["  \($0)"] } ?? [])
      + keyLines(keys, held: held, unsent: unsent, Outage(start: .silent(since: stall.since)))
  }

  private static let stallWindow = Duration.seconds(3)

  private func banner(
    of outage: Outage, at now: Moment, _ keys: Keys, color: Bool, unicode: Bool
  ) -> [String] {
    guard !isSuspected, let shown = outage.shown else {
      return ["\(facts(outage, at: now))."] + answerLines(outage)
    }
    // How often it was tried is in the plan; the error's own count is of something else.
    let error = PresentedError(
      id: shown.id, error: shown.error, context: shown.context,
      plan: wasUp ? nil : outage.plan(at: now))
    let step = step(outage, at: now).map { "; \($0)" } ?? ""
    let plan = "  No link for \(Self.seconds(outage.time(at: now)))\(step)\(goesOn(keys))."
    // Over the screen of a program each row counts: the remedy is in the answer to a key.
    guard !wasUp || !keys.areForLink else {
      let cause = TerminalBanner.cause(of: error, color: color, unicode: unicode)
      return [cause, plan] + answerLines(outage)
    }
    let advice = CommandAdvice.text(for: error.error, in: error.context)
    var lines = TerminalBanner.render(error, color: color, unicode: unicode, advice: advice)
      .split(separator: "\n").map(String.init)
    // What its options mean here, and which keys choose them, is ours to say.
    lines.removeLast()
    return wasUp ? lines + [plan] : lines
  }

  /// What becomes of the program meanwhile, behind since when the link is down.
  private func goesOn(_ keys: Keys) -> String {
    switch keys {
    case .escapes(_, canDetach: true), .viewing: "; the session goes on"
    case .none: outlivesLink ? "; the session goes on" : ""
    case .escapes(_, canDetach: false), .held, .bare: ""
    }
  }

  /// What the user has asked for.
  private func answerLines(_ outage: Outage) -> [String] {
    switch answer {
    case .none: return []
    case .lines(let lines): return lines
    case .status(let login):
      let hop = jumpHost(context(of: outage))
      return ["  " + (hop.map { PeerText.escaped($0.words, limit: 512) } ?? login)]
        + explanation(of: outage)
    }
  }

  private func context(of outage: Outage) -> FailureContext? {
    outage.shown.map { $0.context } ?? outage.failure?.context
  }

  /// Why no connection is up, and what can be done; empty where nothing is known.
  private func explanation(of outage: Outage) -> [String] {
    guard let shown = outage.shown ?? outage.failure.map({ PresentedError(failure: $0) }) else {
      return []
    }
    let error = shown.error
    let entry = ErrorCatalogue.entry(named: error.caseName)
    let cause = entry.map { ["  " + $0.cause] } ?? []
    let advice = CommandAdvice.text(
      for: error, in: shown.context, ofJumpHost: jumpHost(shown.context) != nil)
    let remedy = TerminalBanner.remedy(of: shown, advice: advice)
    return cause + (remedy.isEmpty ? entry.map { ["  " + $0.remedy] } ?? [] : remedy)
  }

  private var isSuspected: Bool { if case .suspected = state { true } else { false } }

  /// Since when it does not answer, and what is done about it: without a period.
  private func facts(_ outage: Outage, at now: Moment) -> String {
    let start = start(of: outage, at: now)
    guard let step = step(outage, at: now) else { return start }
    return start + "; " + step
  }

  private func start(of outage: Outage, at now: Moment) -> String {
    let time = Self.seconds(outage.time(at: now))
    return switch outage.start {
    // A host is written as the user named it.
    case .silent: "\(host) has not responded for \(time)"
    case .cut: wasUp ? "The link to \(host) was lost \(time) ago" : "No link to \(host) yet"
    }
  }

  private func step(_ outage: Outage, at now: Moment) -> String? {
    switch (isSuspected, outage.activity) {
    case (true, .none), (true, .waiting): nil
    case (true, .trying): "connecting anew"
    case (false, .none), (false, .trying): reconnecting(outage, outage.attempt)
    case (false, .waiting(let plan, _)):
      outage.secondsLeft(at: now).map { "next attempt (\(outage.count(plan.attempt))) in \($0) s" }
        ?? reconnecting(outage, plan.attempt)
    }
  }

  private func reconnecting(_ outage: Outage, _ attempt: Int) -> String {
    "reconnecting " + TerminalText.unbroken("(attempt \(outage.count(attempt)))")
  }

  private func keyLines(_ keys: Keys, held: Int, unsent: Int, _ outage: Outage) -> [String] {
    let isFull = keys.haveLimit && unsent >= Keyboard.heldLimit
    let held = Self.held(held, isFull: isFull)
    switch keys {
    case .none: return []
    case .bare:
      let kinds = (outage.shown?.error ?? outage.failure?.error)?.recoveryOptions.map(\.kind) ?? []
      return ["  " + LinkKeys.options(of: kinds).joined(separator: "  ")]
    case .held: return ["  \(held)"]
    case .escapes(isLineStart: false, _):
      return ["  \(held) \(words("Enter \(escape).", "disconnects"))."]
    case .escapes(isLineStart: true, let canDetach):
      return ["  \(held) \(escapes(outage, canDetach: canDetach))"]
    case .viewing: return ["  " + escapes(outage, canDetach: true)]
    }
  }

  /// Asks whether what was typed in an outage is sent, or no longer.
  ///
  /// - Parameter seconds: since the link was taken for dead. The person has read since when nothing
  ///   was heard, which is longer.
  package mutating func ask(after seconds: Int?) {
    askedAfter = seconds.map { max($0, Int(lastOutage.components.seconds)) }
  }

  /// What the user is asked after a long outage.
  static func question(unsent: Int, after seconds: Int) -> String {
    "Not sent yet: \(Counted.text(unsent, "typed byte")); the link was down for \(seconds) s. "
      + "Enter sends, Ctrl-C drops what was typed."
  }

  private func escapes(_ outage: Outage, canDetach: Bool) -> String {
    var all = [words("\(escape)r", isSuspected ? "reconnects" : "retries now")]
    if (outage.shown?.error ?? outage.failure?.error) != nil, answer == nil {
      all.append(words("\(escape)s", "explains"))
    }
    if canDetach { all.append(words("\(escape)d", "detaches")) }
    return (all + [words("\(escape).", "disconnects")]).joined(separator: ", ") + "."
  }

  /// A key and its meaning, between which no line is broken.
  private func words(_ key: String, _ meaning: String) -> String {
    TerminalText.unbroken("\(key) \(meaning)")
  }

  /// Of what left for a link that was dead by then nothing is known, so that no bytes are no zero.
  private static func held(_ count: Int, isFull: Bool = false) -> String {
    switch count {
    case 0: "What you type is held."
    case 1: "Typed input is held (1 byte)."
    case _ where isFull: "Typed input is held (\(count) bytes); what you type now is dropped."
    default: "Typed input is held (\(count) bytes)."
    }
  }

  /// Whole seconds, or milliseconds where that is none.
  private static func seconds(_ time: Duration) -> String {
    time < .seconds(1) ? "\(max(0, time.milliseconds)) ms" : "\(time.components.seconds) s"
  }

  /// The answer to `~s` while the link is not up: since when, why, what comes next; nil while it is
  /// up. Escaped like the banner.
  package func report(at now: Moment, held: Int) -> [String]? {
    let outage: Outage
    switch state {
    case .up: return nil
    case .over: return ["not connected; nothing more is tried."]
    case .opening(let found), .suspected(_, let found), .down(let found): outage = found
    }
    var lines = TerminalText.broken("\(facts(outage, at: now)).", at: .max)
    if let error = outage.shown?.error ?? outage.failure?.error {
      lines.append(PeerText.escaped(error.shownMessage(), limit: 512))
    }
    if held > 0 { lines.append(Self.held(held)) }
    return lines
  }
}

extension LinkStatus.Keys {
  /// Whether not all that is typed is held.
  fileprivate var haveLimit: Bool {
    if case .escapes(_, canDetach: true) = self { true } else { false }
  }

  /// Whether there is one that says more.
  fileprivate var areForLink: Bool {
    switch self {
    case .escapes, .viewing, .bare: true
    case .held, .none: false
    }
  }

}

// Where nothing can be erased: a line for each kind of trouble.
extension LinkStatus {
  /// What was said.
  struct Log: Sendable {
    var lastMessage: String?
    var lastError: AppError?
  }

  /// The line for `event` where nothing can be erased: once per kind of trouble.
  package mutating func message(for event: RecoveryEvent) -> String? {
    switch event.step {
    case .waiting(let plan):
      // What may be over at once is said when it is not.
      if wasUp, let wait = plan.at, wait <= RecoveryDefaults.settleWindow { return nil }
      return wasUp || plan.next != .giveUp ? troubleMessage() : nil
    case .failed(let failure):
      log.lastError = failure.error
      return nil
    case .suspected(let silent):
      return "\(host) has not responded for \(Self.seconds(silent))."
    case .cleared:
      return "\(host) responds again."
    case .attempted, .entered, .recovered, .becameHealthy, .classified, .suspended, .resumed,
      .switched,
      .gaveUp, .surfaced, .withdrawn, .lingered, .changed, .closed, .missed:
      return nil
    }
  }

  /// The line for a link that has been down for a while, once.
  package mutating func overdueMessage() -> String? {
    guard case .down = state, log.lastMessage == nil else { return nil }
    return troubleMessage()
  }

  private mutating func troubleMessage() -> String? {
    guard let error = log.lastError else { return nil }
    let text = "\(PeerText.escaped(error.shownMessage(), limit: 512)) Retrying"
    guard text != log.lastMessage else { return nil }
    log.lastMessage = text
    return text + "; changes are reported."
  }

  /// That the link is back.
  package static func back(after time: Duration, _ attempts: Int) -> String {
    let tenths = Int(time / .milliseconds(100))
    let words = tenths < 10 ? "\(time.milliseconds) ms" : "\(tenths / 10).\(tenths % 10) s"
    return "The link is back after \(words) (\(attempts) \(attempts == 1 ? "try" : "tries"))."
  }
}
