import BridgeErrors
package import BridgeRecovery

/// What bare keys mean while there is no live shell: `r`, `a`, `s`, and Ctrl-C twice.
package struct LinkKeys: Sendable, Equatable {
  /// What a key asks for.
  package enum Command: Sendable, Equatable {
    /// Try now.
    case retry
    /// Leave.
    case leave
    /// Say more about the error.
    case explain
    /// Ctrl-C once: say that twice leaves.
    case confirmLeave
  }

  /// How soon the second Ctrl-C must follow the first.
  package static let patience = Duration.seconds(2)

  private var interrupted: Moment?

  /// No key yet.
  package init() {}

  /// What `byte`, typed at `now`, asks for; nil for keys without a meaning.
  package mutating func take(_ byte: UInt8, at now: Moment) -> Command? {
    guard byte != 3 else {
      if let interrupted, now - interrupted <= Self.patience { return .leave }
      interrupted = now
      return .confirmLeave
    }
    switch Character(Unicode.Scalar(byte)).lowercased() {
    case String(ErrorRecoveryOption.Kind.retry.key): return .retry
    case String(ErrorRecoveryOption.Kind.abort.key): return .leave
    case String(ErrorRecoveryOption.Kind.checkSettings.key): return .explain
    case _: return nil
    }
  }
}
