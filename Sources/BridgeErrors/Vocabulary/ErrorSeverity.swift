/// How much an error hinders the person who sees it (S1-54…S1-57).
public enum ErrorSeverity: Int, Sendable, CaseIterable, Comparable {
  /// Blue: informational.
  case info
  /// Yellow: degraded but functional.
  case warning
  /// Red: the action is blocked.
  case error
  /// Red with a bell: nothing may work.
  case critical

  /// The word for it in logs and on screen.
  public var name: String {
    switch self {
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    case .critical: "critical"
    }
  }

  /// Less severe first.
  public static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
