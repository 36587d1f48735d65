public import BridgeErrors
public import FoundationEssentials
public import Logging

/// Errors as log lines: the title and metadata at the error's level, what a payload says only at
/// debug (G-12, G-14).
///
/// Every line of a task that works for a request carries its correlation id.
public struct ErrorLog: Sendable {
  /// The label of the logger: subsystem and category of S1-156.
  public static let label = "com.codingbridge.error"

  /// Where lines go.
  public var logger: Logger
  /// Whether the message for the person stands beside the title at every level. It may hold peer
  /// text, so this is not for production.
  public var includesUserMessage: Bool

  /// A log over `logger`.
  public init(logger: Logger = Logger(label: label), includesUserMessage: Bool = false) {
    self.logger = logger
    self.includesUserMessage = includesUserMessage
  }

  /// Logs a typed error at its level. `metadata` is added to what the error brings.
  public func record(
    _ error: AppError, metadata: [String: String] = [:], file: String = #fileID,
    function: String = #function, line: UInt = #line
  ) {
    let text = "\(error.title): \(PeerText.escaped(error.userMessage))"
    let all = Self.metadata(error.logMetadata.merging(metadata) { own, _ in own })
    let level = Logger.Level(error.logLevel)
    logger.log(
      level: level, "\(includesUserMessage ? text : error.title)", metadata: all, file: file,
      function: function, line: line)
    if !includesUserMessage, level > .debug {
      logger.debug("\(text)", metadata: all, file: file, function: function, line: line)
    }
  }

  /// Logs any error by its type alone: `context`, `error_type` and `timestamp` (S3-92). A
  /// cancellation goes to debug.
  public func record(
    _ error: any Error, context: String, at now: Date = Date(), file: String = #fileID,
    function: String = #function, line: UInt = #line
  ) {
    let known = error as? AppError
    let level = error is CancellationError ? .debug : Logger.Level(known?.logLevel ?? .error)
    let metadata = Self.metadata([
      "context": context, "error_type": ErrorData.typeName(of: error),
      "timestamp": now.formatted(.iso8601),
    ])
    logger.log(
      level: level, "Error", metadata: metadata, file: file, function: function, line: line)
  }

  /// Logs that a request to this host failed (S4-35). `path` is logged without its query.
  public func requestFailed(
    _ error: any Error, method: String, path: String, correlationID: CorrelationID
  ) {
    let path = path.prefix { $0 != "?" && $0 != "#" }
    logger.error(
      "Request failed",
      metadata: Self.metadata(
        [
          "error_type": ErrorData.typeName(of: error), "method": method, "path": String(path),
        ], correlationID))
  }

  /// Logs a step of an API client (S4-58): good ones at debug, failures by what they are.
  public func record(_ event: APIEvent) {
    switch event {
    case .requestSent(let method, let path, let id):
      logger.debug("Request", metadata: Self.metadata(["method": method, "path": path], id))
    case .responseReceived(let status, let path, let id, let echoed):
      var row = ["http_status": String(status), "path": path]
      if echoed == nil { row["correlation_echoed"] = "false" }
      logger.debug("Response", metadata: Self.metadata(row, id))
    case .exchangeFailed(let error, let path, let id):
      let row = ["error_type": ErrorData.typeName(of: error), "path": path]
      logger.warning("Exchange failed", metadata: Self.metadata(row, id))
    case .nonconformingErrorBody(let status, let path, let id):
      let row = ["http_status": String(status), "path": path]
      logger.warning("Error body is no envelope", metadata: Self.metadata(row, id))
    case .decodeFailed(let type, let path, let id):
      let row = ["type": type, "path": path]
      logger.error("Answer could not be decoded", metadata: Self.metadata(row, id))
    }
  }

  private static func metadata(
    _ values: [String: String], _ correlationID: CorrelationID? = .current
  ) -> Logger.Metadata {
    var metadata: Logger.Metadata = values.mapValues { value in
      .string(PeerText.escaped(Redactor.redacted(value), limit: 1024))
    }
    if let correlationID { metadata["correlation_id"] = .string(correlationID.description) }
    return metadata
  }
}

extension AppError {
  /// Logs the error with its metadata and the source location of the call (S1-156, G-14).
  public func log(
    to log: ErrorLog = ErrorLog(), file: String = #fileID, function: String = #function,
    line: UInt = #line
  ) {
    log.record(self, file: file, function: function, line: line)
  }
}
