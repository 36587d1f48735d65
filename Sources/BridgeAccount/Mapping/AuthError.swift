public import Foundation

/// Every way that signing in, signing up or resetting a password can fail.
///
/// The first seven cases are what a backend's answer becomes (S0-01…S0-07); `invalidEmail` and
/// `weakPassword` come from local validation, and the last three only from an explicit code of our
/// own host (S3-13…S3-18, G-03).
public enum AuthError: Error, Sendable, Equatable, CaseIterable {
  /// The backend cannot be reached.
  case networkUnavailable
  /// The address or the password is wrong.
  case invalidCredentials
  /// The address is not verified yet.
  case emailUnverified
  /// The backend limits the rate of requests.
  case rateLimited
  /// The one-time code is wrong or expired.
  case otpIncorrect
  /// The address has an account already.
  case duplicateEmail
  /// Any other answer of the backend.
  case unknown
  /// The text is not an address.
  case invalidEmail
  /// The password is too short or too simple.
  case weakPassword
  /// The host says that the address has an account.
  case emailAlreadyExists
  /// The host says that the account is locked.
  case accountLocked
  /// The host says that there were too many attempts.
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

/// The activity during which an error of the account is shown.
public enum AuthFlow: Sendable, Hashable, CaseIterable {
  /// Signing in.
  case login
  /// Creating an account.
  case signup
  /// Resetting a password.
  case reset
}

extension AuthError: LocalizedError {
  /// The text for a person (S0-37…S0-43, S3-13…S3-17), without regard to a flow.
  public var errorDescription: String? {
    AuthErrorMapper.message(for: self)
  }
}
