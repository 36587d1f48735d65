#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An error of a library that is not imported here, with what it means: a module that imports that
/// library makes its errors conform. BridgeURLErrors does so for those of Foundation.
public protocol ForeignError: Error {
  /// The typed error that it stands for.
  var appError: AppError { get }
  /// Its text, as the library has it.
  var errorText: String { get }
}

extension ForeignError {
  /// `unknown`, with its text.
  public var appError: AppError { .unknown(message: PeerText.escaped(errorText)) }
}

/// The text of an error that has no mapper: word for word what Foundation calls its localized
/// description, without Foundation.
enum ErrorText {
  private static let failed = "The operation could not be completed. "

  static func of(_ error: any Error) -> String {
    if let error = error as? any ForeignError { return error.errorText }
    let own = error as? any LocalizedError
    if let text = own?.errorDescription { return text }
    return failed + (own?.failureReason ?? "(\(error._domain) error \(error._code).)")
  }
}
