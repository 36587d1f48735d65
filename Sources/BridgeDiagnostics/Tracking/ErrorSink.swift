/// Where records of errors go (S3-103).
public protocol ErrorSink: Sendable {
  /// Keeps one record.
  func record(_ data: ErrorData) async
}
