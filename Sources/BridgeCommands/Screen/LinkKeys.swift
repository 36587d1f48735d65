package import BridgeErrors
package import BridgeRecovery

/// The meaning of bare keys while there is no live shell: `r`, `a`, `s`, Ctrl-C twice, and `~.`.
package struct LinkKeys: Sendable, Equatable {
  /// The command of a key.
  package enum Command: Sendable, Equatable {
    /// Try now.
    case retry
    /// Leave.
    case disconnect
    /// Say more about the error.
    case explain
    /// Ctrl-C once: say that twice leaves.
    case confirmDisconnect
  }

  /// How soon the second Ctrl-C must follow the first.
  package static let escapeTimeout = Duration.seconds(2)

  private var interrupted: Moment?
  /// The key before was the tilde.
  private var isEscaped = false

  /// No key yet.
  package init() {}

  /// The command of `byte`, typed at `now`; nil for keys without a meaning.
  package mutating func take(_ byte: UInt8, at now: Moment) -> Command? {
    guard byte != 3 else {
      if let interrupted, now - interrupted <= Self.escapeTimeout { return .disconnect }
      interrupted = now
      return .confirmDisconnect
    }
    // Who has used ssh for long types it without looking.
    if isEscaped, byte == UInt8(ascii: ".") { return .disconnect }
    isEscaped = byte == UInt8(ascii: "~")
    let key = Character(Unicode.Scalar(byte)).lowercased()
    return Self.always.first { String($0.key) == key }.flatMap(Self.command)
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
