public import Foundation

/// Every way that signing in, signing up or resetting a password can fail.
///
/// The first seven cases are what a backend's answer becomes (S0-01…S0-07); `invalidEmail` and
/// `weakPassword` come from local validation, and the last three only from an explicit code of our
/// own host (S3-13…S3-18, G-03).
public enum AuthError: Error, Sendable, Equatable, CaseIterable {
  case networkUnavailable
  case invalidCredentials
  case emailUnverified
  case rateLimited
  case otpIncorrect
  case duplicateEmail
  case unknown
  case invalidEmail
  case weakPassword
  case emailAlreadyExists
  case accountLocked
  case tooManyAttempts

  /// The same error under the name the backend's mapper gives it; near-duplicates are folded.
  public var canonical: AuthError {
    switch self {
    case .emailAlreadyExists: .duplicateEmail
    case .tooManyAttempts: .rateLimited
    case .networkUnavailable, .invalidCredentials, .emailUnverified, .rateLimited, .otpIncorrect,
      .duplicateEmail, .unknown, .invalidEmail, .weakPassword, .accountLocked:
      self
    }
  }

  /// The error as `flow` may name it: a sign-in never confirms that an account exists (S0-74,
  /// G-52).
  public func veiled(in flow: AuthFlow) -> AuthError {
    guard flow == .login else { return self }
    return switch self {
    case .duplicateEmail, .emailAlreadyExists, .accountLocked: .invalidCredentials
    case .networkUnavailable, .invalidCredentials, .emailUnverified, .rateLimited, .otpIncorrect,
      .unknown, .invalidEmail, .weakPassword, .tooManyAttempts:
      self
    }
  }
}

/// What a person is doing when an error of the account is shown.
public enum AuthFlow: Sendable, Hashable, CaseIterable {
  case login
  case signup
  case reset
}

extension AuthError: LocalizedError {
  /// The text for a person (S0-37…S0-43, S3-13…S3-17), without regard to a flow.
  public var errorDescription: String? {
    AuthErrorMapper.message(for: self)
  }
}
