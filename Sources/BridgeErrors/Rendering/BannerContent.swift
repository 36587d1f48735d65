/// What every banner shows, whatever it is drawn with: escaped for one line of text, without
/// secrets, in the order of S1-159…S1-161.
struct BannerContent {
  let severity: ErrorSeverity
  let icon: String
  let title: String
  /// The title, unless it only repeats the severity.
  let heading: String?
  let source: String?
  let count: Int
  let message: String
  let hint: String?
  /// A command for a person to copy.
  let command: String?
  let plan: String?
  let options: [ErrorRecoveryOption]

  init(_ error: AppError, context: FailureContext? = nil) {
    self.init(error, context: context, attempts: 0, source: nil, count: 1, plan: nil)
  }

  init(_ shown: PresentedError) {
    self.init(
      shown.error, context: shown.context, attempts: shown.attempts, source: shown.source,
      count: shown.count, plan: shown.plan)
  }

  private init(
    _ error: AppError, context: FailureContext?, attempts: Int, source: String?, count: Int,
    plan: RecoveryPlan?
  ) {
    let row = error.row
    severity = row.severity
    icon = row.icon
    title = row.title
    heading = row.heading
    self.source = source.map { Payload.shown($0, limit: 256) }
    self.count = count
    let message = PeerText.escaped(error.shownMessage(in: context))
    self.message = attempts == 0 ? message : message + " Retry failed (attempt \(attempts))."
    hint = error.hintBelowMessage(in: context).map { PeerText.escaped($0) }
    command = context?.command.map { PeerText.escaped($0) }
    self.plan = plan?.words
    let planned = plan?.options.compactMap(\.option) ?? []
    options = planned.isEmpty ? row.options() : planned
  }
}

extension BannerContent {
  /// The hint, followed by a sentence of the program that shows it.
  func hint(with advice: String?) -> String? {
    let parts = [hint, advice.map { PeerText.escaped($0) }].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}

extension RecoveryPlan {
  /// "Reconnecting in 4 s (attempt 3, 7 left)".
  var words: String {
    var words = next.words
    if let at, at > .zero { words += " in \(at.words)" }
    switch next {
    case .reconnect, .retry, .awaitNetwork:
      words += " (attempt \(attempt)" + (attemptsLeft.map { ", \($0) left)" } ?? ")")
    case .askPerson, .giveUp: break
    }
    return words
  }
}

extension RecoveryPlan.Step {
  fileprivate var words: String {
    switch self {
    case .reconnect: "Reconnecting"
    case .retry: "Trying again"
    case .awaitNetwork: "Waiting for the network"
    case .askPerson: "Waiting for your choice"
    case .giveUp: "Not tried again"
    }
  }
}

extension Duration {
  /// "250 ms", "4.2 s", "2 min 5 s".
  var words: String {
    let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1000
    if seconds >= 60 { return "\(seconds / 60) min \(seconds % 60) s" }
    let tenths = milliseconds % 1000 / 100
    return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
  }
}
