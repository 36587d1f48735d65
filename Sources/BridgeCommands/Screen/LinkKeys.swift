package import BridgeErrors
package import BridgeRecovery

/// The meaning of bare keys while there is no live shell: `r`, `s`, `a` or Ctrl-C twice, and `~.`.
/// Who goes on typing a command does not leave by one of its letters.
package struct LinkKeys: Sendable {
  /// A key that leaves when it comes twice in a row.
  package enum Way: Sendable, Equatable {
    case controlC
    case abort

    /// The key, as the user knows it.
    package var name: String {
      switch self {
      case .controlC: "Ctrl-C"
      case .abort: "[\(ErrorRecoveryOption.Kind.abort.key)]"
      }
    }
  }

  /// The command of a key.
  package enum Command: Sendable, Equatable {
    /// Try now.
    case retry
    /// Leave.
    case disconnect
    /// Say more about the error.
    case explain
    /// Such a key once: say that twice leaves.
    case confirmDisconnect(Way)
  }

  /// How soon the second one must follow the first.
  package static let escapeTimeout = Duration.seconds(2)

  /// How long behind another key a letter is one of a text.
  private static let typingTime = Duration.seconds(1)

  private var last: (way: Way, time: Moment)?
  private var typed: Moment?
  /// The key before was the tilde.
  private var isEscaped = false

  /// No key yet.
  package init() {}

  /// The command of `byte`, typed at `now`; nil for keys without a meaning.
  package mutating func take(_ byte: UInt8, at now: Moment) -> Command? {
    guard byte != 3 else { return take(.controlC, at: now) }
    // Who has used ssh for long types it without looking.
    if isEscaped, byte == UInt8(ascii: ".") { return .disconnect }
    isEscaped = byte == UInt8(ascii: "~")
    let key = Character(Unicode.Scalar(byte)).lowercased()
    let command = Self.always.first { String($0.key) == key }.flatMap(Self.command)
    let isText = typed.map { now - $0 < Self.typingTime } ?? false
    if command == .disconnect, !isText { return take(.abort, at: now) }
    if command == nil || isText { typed = now }
    if last?.way == .abort { last = nil }
    return command == .disconnect ? nil : command
  }

  private mutating func take(_ way: Way, at now: Moment) -> Command {
    if let last, last.way == way, now - last.time <= Self.escapeTimeout { return .disconnect }
    last = (way, now)
    return .confirmDisconnect(way)
  }

  /// The ways out of every error of a link.
  private static let always: [ErrorRecoveryOption.Kind] = [.retry, .abort, .checkSettings]

  /// The command of an option while a link is down; nil for options without one.
  private static func command(_ kind: ErrorRecoveryOption.Kind) -> Command? {
    switch kind {
    case .retry, .reconnect: .retry
    case .cancel, .abort: .disconnect
    // The settings are files and flags: what to look for there is said.
    case .checkSettings, .openSettings: .explain
    case .dismiss, .waitForCompletion, .browse, .retryWithPermission, .skipTool, .custom: nil
    }
  }

  /// The options of an error that has these: its own first, as far as they mean something here, and
  /// the ways out that it does not name. Each key once, with what it does.
  package static func options(of kinds: [ErrorRecoveryOption.Kind]) -> [String] {
    var commands: [Command] = []
    for command in (kinds + always).compactMap(command) where !commands.contains(command) {
      commands.append(command)
    }
    return commands.map { command in
      switch command {
      case .retry: "[\(ErrorRecoveryOption.Kind.retry.key)] Retry"
      case .disconnect, .confirmDisconnect: "[\(ErrorRecoveryOption.Kind.abort.key)] Abort"
      case .explain: "[\(ErrorRecoveryOption.Kind.checkSettings.key)] Explain"
      }
    }
  }
}
