/// What an API client reports while it works, for logs and counters. Holds no body, no query and
/// no header but the correlation id.
public enum APIEvent: Sendable, Equatable {
  /// A request went out. `path` is without its query.
  case requestSent(method: String, path: String, correlationID: CorrelationID)
  /// An answer came; `echoed` is the id in it, nil where it holds none.
  case responseReceived(
    status: Int, path: String, correlationID: CorrelationID, echoed: CorrelationID?)
  /// No answer came.
  case exchangeFailed(error: APIError, path: String, correlationID: CorrelationID)
  /// An error answer had no envelope.
  case nonconformingErrorBody(status: Int, path: String, correlationID: CorrelationID)
  /// A success answer was not a `type`.
  case decodeFailed(type: String, path: String, correlationID: CorrelationID)
}
