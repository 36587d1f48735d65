public import BridgeErrors
public import Logging

extension Logger.Level {
  /// swift-log's name for a level; its "critical" is a fault (G-15).
  public init(_ level: ErrorLogLevel) {
    switch level {
    case .debug: self = .debug
    case .info: self = .info
    case .warning: self = .warning
    case .error: self = .error
    case .fault: self = .critical
    }
  }
}
