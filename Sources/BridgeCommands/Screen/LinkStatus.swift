import BridgeErrors
package import BridgeRecovery

/// The status text of the link, from the supervisor's events: without I/O, so that every
/// screen is a test.
package struct LinkStatus: Sendable {
  /// The current activity while the link is down.
  private enum Activity: Sendable {
    case none
    case waiting(RecoveryPlan, until: Moment)
    case trying(number: Int)
  }

  /// Whether it was ever up.
  package private(set) var wasUp = false
  /// How many typed bytes were lost with the link.
  package var lostBytes = 0
  /// Whether the next Ctrl-C leaves.
  package var isDisconnecting = false
  /// Whether cause and remedy are shown too.
  package var isExplained = false
  /// Whether the shell goes on without the link: typing is held, and bare keys mean nothing.
  package var isDurable = false
  private var isUp = false
  /// Whether no more attempt is made.
  private var isFinal = false
  private var shown: PresentedError?
  private var activity = Activity.none
  private var attemptsLeft: Int?
  private var heard: Moment?
  private var lastMessage: String?
  private let host: String

  /// Creates the status of the link to `host`, which is escaped.
  package init(host: String) { self.host = host }

  /// Takes one event in.
  package mutating func see(_ event: RecoveryEvent) {
    switch event.step {
    case .attempted(let number, let isStandby): if !isStandby { activity = .trying(number: number) }
    case .recovered: comeUp()
    case .failed: if event.generation == live { goDown() }
    case .waiting(let plan):
      activity = .waiting(plan, until: event.at + (plan.at ?? .zero))
      attemptsLeft = plan.attemptsLeft
    case .suspected(let silent): heard = event.at - silent
    case .cleared: heard = nil
    case .surfaced(let error):
      // What nothing more is tried about ends the run, and its last line says it.
      isFinal = error.plan?.next == .giveUp || error.plan?.next == .askPerson
      shown = isFinal ? nil : error
    case .withdrawn(let id): if shown?.id == id { shown = nil }
    case .switched: goDown()
    case .gaveUp: (isFinal, shown) = (true, nil)
    // Something that it depends on is down.
    case .suspended: goDown()
    case .entered, .becameHealthy, .classified, .resumed, .lingered, .changed, .closed, .missed:
      break
    }
    if case .recovered = event.step { live = event.generation }
  }

  private var live: Int?

  private mutating func comeUp() {
    (isUp, wasUp, heard, shown, activity) = (true, true, nil, nil, .none)
    (lostBytes, isDisconnecting, isExplained, isFinal, lastMessage) = (0, false, false, false, nil)
  }

  private mutating func goDown() {
    (isUp, heard, live) = (false, nil, nil)
  }

  /// Whether there is something to say that changes with time.
  package var isTicking: Bool { !isFinal && (heard != nil || (wasUp && !isUp)) }

  /// The lines of the banner at `now`; none while all is well, and in the first moment of trouble.
  package func lines(
    at now: Moment, held: Int = 0, hasKeyboard: Bool, color: Bool, unicode: Bool
  ) -> [String] {
    if isUp { return suspicion(at: now, held: held, hasKeyboard: hasKeyboard) }
    guard let shown else { return [] }
    // How often it was tried is in the plan; the error's own count is of something else.
    let error = PresentedError(
      id: shown.id, error: shown.error, context: shown.context,
      plan: plan(at: now))
    let advice = CommandAdvice.text(for: error.error, in: error.context)
    var lines = TerminalBanner.render(error, color: color, unicode: unicode, advice: advice)
      .split(separator: "\n").map(String.init)
    // What its options mean here, and which keys choose them, is ours to say.
    lines.removeLast()
    if isExplained { lines.append("  " + explanation(of: error.error)) }
    if hasKeyboard, isDurable {
      lines.append("  " + Self.held(held) + " ~r retries now, ~d detaches, ~. disconnects.")
    } else if hasKeyboard {
      let options = LinkKeys.options(of: error.error.recoveryOptions.map(\.kind))
      lines.append("  " + options.joined(separator: "  "))
    }
    if lostBytes > 0 {
      lines.append("  \(lostBytes) typed \(lostBytes == 1 ? "byte was" : "bytes were") not sent.")
    }
    if isDisconnecting { lines.append("  Ctrl-C again disconnects.") }
    return lines
  }

  private func suspicion(at now: Moment, held: Int, hasKeyboard: Bool) -> [String] {
    guard let heard else { return [] }
    var line = "\(host) has not responded for \(Self.seconds(now - heard))."
    if hasKeyboard {
      line += " \(Self.held(held)) ~r reconnects, ~. disconnects."
    }
    return [line]
  }

  /// Whole seconds, or milliseconds where that is none.
  private static func seconds(_ time: Duration) -> String {
    time < .seconds(1) ? "\(time.milliseconds) ms" : "\(time.components.seconds) s"
  }

  private static func held(_ count: Int) -> String { "Typed input is held (\(count) bytes)." }

  private func plan(at now: Moment) -> RecoveryPlan {
    switch activity {
    case .waiting(var plan, let until):
      let seconds = (until - now) / .seconds(1)
      plan.at = .seconds(max(0, Int(seconds.rounded(.up))))
      return plan
    case .trying(let number):
      return RecoveryPlan(
        next: .reconnect, attempt: number, attemptsLeft: attemptsLeft)
    case .none:
      return RecoveryPlan(next: .reconnect)
    }
  }

  private func explanation(of error: AppError) -> String {
    let entry = ErrorCatalogue.entry(named: error.caseName)
    return [entry?.cause, entry?.remedy].compactMap(\.self).joined(separator: " ")
  }

  /// The line for `event` where nothing can be erased: once per kind of trouble.
  package mutating func message(for event: RecoveryEvent) -> String? {
    switch event.step {
    case .waiting(let plan):
      // What may be over at once is said when it is not.
      if wasUp, let wait = plan.at, wait <= RecoveryDefaults.settleWindow { return nil }
      return wasUp || plan.next != .giveUp ? troubleMessage() : nil
    case .failed(let failure):
      lastError = failure.error
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
    wasUp && !isUp && !isFinal && lastMessage == nil ? troubleMessage() : nil
  }

  private mutating func troubleMessage() -> String? {
    guard let lastError else { return nil }
    let text = "\(PeerText.escaped(lastError.shownMessage(), limit: 512)) Retrying"
    guard text != lastMessage else { return nil }
    lastMessage = text
    return text + " until it succeeds; changes are reported."
  }

  private var lastError: AppError?

  /// That the link is back.
  package static func back(after time: Duration, _ attempts: Int) -> String {
    let tenths = Int(time / .milliseconds(100))
    let words = tenths < 10 ? "\(time.milliseconds) ms" : "\(tenths / 10).\(tenths % 10) s"
    return "The link is back after \(words) (\(attempts) \(attempts == 1 ? "try" : "tries"))."
  }
}
