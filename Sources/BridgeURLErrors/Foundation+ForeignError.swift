public import BridgeErrors
public import Foundation

extension URLError: ForeignError {
  /// By its code; `cancelled` for a request that the caller gave up.
  public var appError: AppError { code == .cancelled ? .cancelled : AppError(urlError: self) }
  /// The localized description.
  public var errorText: String { localizedDescription }
}

extension NSError: ForeignError {
  /// The localized description.
  public var errorText: String { localizedDescription }
}

extension CocoaError: ForeignError {
  /// The localized description.
  public var errorText: String { localizedDescription }
}

extension POSIXError: ForeignError {
  /// The localized description.
  public var errorText: String { localizedDescription }
}
