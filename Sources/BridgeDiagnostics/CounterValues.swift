import BridgeErrors

/// Counters of events: the measures of S4-62…S4-65 (G-65).
public struct CounterValues: Sendable, Equatable, Codable {
  /// Success answers that could not be decoded.
  public internal(set) var decodeFailures = 0
  /// Error answers without an envelope.
  public internal(set) var nonconformingErrorBodies = 0
  /// Answers that did not echo the correlation id.
  public internal(set) var responsesWithoutCorrelationID = 0
  /// Errors by `error_type`.
  public internal(set) var errorsByType: [String: Int] = [:]
  /// Errors by severity.
  public internal(set) var errorsBySeverity: [String: Int] = [:]
  /// Operations tried again.
  public internal(set) var retries = 0
  /// Connections dialed again.
  public internal(set) var reconnects = 0
  /// Errors that a full queue dropped.
  public internal(set) var queueDrops = 0

  /// The number of error types that are counted separately; any further one is "other".
  static let typeLimit = 256

  /// All zero.
  public init() {}

  private enum CodingKeys: String, CodingKey {
    case decodeFailures = "decode_failures"
    case nonconformingErrorBodies = "nonconforming_error_bodies"
    case responsesWithoutCorrelationID = "responses_without_correlation_id"
    case errorsByType = "errors_by_type"
    case errorsBySeverity = "errors_by_severity"
    case retries
    case reconnects
    case queueDrops = "queue_drops"
  }

  /// One line a counter, `name value`, in a fixed order; types and severities in braces.
  public var lines: [String] {
    let plain = [
      (CodingKeys.decodeFailures, decodeFailures),
      (.nonconformingErrorBodies, nonconformingErrorBodies),
      (.responsesWithoutCorrelationID, responsesWithoutCorrelationID), (.retries, retries),
      (.reconnects, reconnects), (.queueDrops, queueDrops),
    ]
    let types = errorsByType.sorted { $0.key < $1.key }
      .map { "errors{error_type=\($0.key)} \($0.value)" }
    let severities = ErrorSeverity.allCases.compactMap { severity in
      errorsBySeverity[severity.name].map { "errors{severity=\(severity.name)} \($0)" }
    }
    return plain.map { "\($0.0.rawValue) \($0.1)" } + types + severities
  }

  mutating func count(_ error: any Error) {
    let known = error as? AppError
    guard known != .cancelled, !(error is CancellationError) else { return }
    let name = ErrorData.typeName(of: error)
    let isCounted = errorsByType[name] != nil || errorsByType.count < Self.typeLimit
    errorsByType[isCounted ? name : "other", default: 0] += 1
    errorsBySeverity[(known?.severity ?? .error).name, default: 0] += 1
  }

  mutating func count(_ event: APIEvent) {
    switch event {
    case .requestSent: break
    case .responseReceived(_, _, _, let echoed):
      if echoed == nil { responsesWithoutCorrelationID += 1 }
    case .exchangeFailed(let error, _, _): count(error)
    case .nonconformingErrorBody: nonconformingErrorBodies += 1
    case .decodeFailed: decodeFailures += 1
    }
  }
}
