public import BridgeErrors

/// Why no connection came about, before a byte was exchanged.
public struct DialFailure: Error, Sendable, Equatable {
  /// The cause, as seen by this side.
  public enum Cause: Sendable, Hashable {
    /// The name does not exist, or has no address (EAI_NONAME, EAI_NODATA).
    case nameUnknown
    /// The resolver gave no answer: EAI_AGAIN, another failure of its own, or the deadline.
    case nameTimeout
    /// ENETDOWN, or no route and no interface up.
    case offline
    /// A system call failed, EMFILE and ENFILE included; of several addresses the most telling one.
    case failed(errno: Int32)
    /// The deadline of the dial passed while an attempt was under way.
    case deadline
    /// The calling task was canceled.
    case cancelled
  }

  /// `.resolve` or `.dial`.
  public var phase: ConnectionPhase
  /// What went wrong.
  public var cause: Cause
  /// The `errno` in `.dial`, libuv's `UV_EAI_…` (or negative `errno`) in `.resolve`; 0 where no
  /// call failed.
  public var nativeCode: Int

  /// A failure in `phase`.
  public init(phase: ConnectionPhase, cause: Cause, nativeCode: Int = 0) {
    self.phase = phase
    self.cause = cause
    self.nativeCode = nativeCode
  }

  /// What went wrong, as a sentence without its end.
  package var words: String {
    switch cause {
    case .nameUnknown: "The name is unknown"
    case .nameTimeout: "The name was not resolved in time"
    case .offline: "There is no network"
    case .failed(let errno): ListeningSocket.Failure(errno: errno).words
    case .deadline: "Nothing answered in time"
    case .cancelled: "It was canceled"
    }
  }

  /// What a dial ended by `errno` is; without an interface a missing route means offline.
  package static func dial(errno: Int32, hasInterface: () -> Bool) -> DialFailure {
    let isOffline =
      ErrorNumber.isInterfaceDown(errno) || (ErrorNumber.isWithoutRoute(errno) && !hasInterface())
    return DialFailure(
      phase: .dial, cause: isOffline ? .offline : .failed(errno: errno), nativeCode: Int(errno))
  }
}
