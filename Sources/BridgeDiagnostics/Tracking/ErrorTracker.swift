public import FoundationEssentials

/// Keeps what errors happened where, on this machine only: nothing is sent anywhere (G-11).
public struct ErrorTracker: Sendable {
  /// The tracker of this process; it keeps records in memory and writes no file (S3-104).
  public static let shared = ErrorTracker(sink: MemorySink())

  /// Where records go.
  public let sink: any ErrorSink
  private let user: @Sendable () -> HashedUserID?
  private let appVersion: String?
  private let now: @Sendable () -> Date

  /// Creates a tracker into `sink`. `user` returns the hashed id of the signed-in user, `now` the
  /// current time.
  public init(
    sink: any ErrorSink, user: @escaping @Sendable () -> HashedUserID? = { nil },
    appVersion: String? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.sink = sink
    self.user = user
    self.appVersion = appVersion
    self.now = now
  }

  /// Keeps that `error` happened in `context` (S3-98). A cancellation is no error.
  public func trackError(_ error: any Error, context: String) async {
    guard !(error is CancellationError), ErrorData.typeName(of: error) != "cancelled" else {
      return
    }
    await sink.record(
      ErrorData(error, context: context, timestamp: now(), user: user(), appVersion: appVersion))
  }
}
