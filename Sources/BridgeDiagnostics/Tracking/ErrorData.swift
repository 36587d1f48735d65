import BridgeErrors
public import FoundationEssentials

/// What is kept of an error to find common patterns: nothing of its payload (S3-99).
public struct ErrorData: Codable, Sendable, Equatable {
  /// The type of the error: the case of an `AppError`, else the name of the Swift type (G-13).
  public let type: String
  /// What was being done, without secrets.
  public let context: String
  /// When it happened.
  public let timestamp: Date
  /// The hashed id of the signed-in user; nil where no user is signed in (S3-101).
  public let userID: String?
  /// The version of the app.
  public let appVersion: String?

  init(
    _ error: any Error, context: String, timestamp: Date, user: HashedUserID?, appVersion: String?
  ) {
    type = Self.typeName(of: error)
    self.context = PeerText.escaped(Redactor.redacted(context), limit: 1024)
    self.timestamp = timestamp
    userID = user?.description
    self.appVersion = appVersion
  }

  /// The type of `error` by name, never its payload.
  static func typeName(of error: any Error) -> String {
    (error as? AppError)?.caseName ?? String(describing: Swift.type(of: error))
  }
}
