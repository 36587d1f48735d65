public import Foundation

/// The error of a Supabase client: status, code and the backend's own words (S0-09).
///
/// The words are for a debugger; a person only ever sees the text of the code.
public struct AuthClientError: Error, Sendable, Equatable {
  /// The HTTP status.
  public var status: Int
  /// The backend's code, compared without regard to case.
  public var code: String?
  /// The backend's text. Never shown: it reveals whether an account exists (S0-76).
  public var message: String

  /// An error as the backend reported it.
  public init(status: Int, code: String?, message: String) {
    self.status = status
    self.code = code
    self.message = message
  }
}

extension AuthClientError: LocalizedError {
  /// The text for a person, by code and then by status.
  public var errorDescription: String? {
    AuthErrorMapper.message(for: self)
  }
}
