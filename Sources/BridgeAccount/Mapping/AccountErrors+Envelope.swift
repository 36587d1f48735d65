public import BridgeErrors
import Foundation

extension AuthError: EnvelopeError {
  /// The HTTP status of the answer.
  public var envelopeStatus: Int {
    switch self {
    case .invalidCredentials: 401
    case .emailUnverified, .accountLocked: 403
    case .otpIncorrect, .invalidEmail, .weakPassword: 400
    case .duplicateEmail, .emailAlreadyExists: 409
    case .rateLimited, .tooManyAttempts: 429
    case .networkUnavailable: 503
    case .unknown: 500
    }
  }

  /// The code that the host's clients know (S4-19…S4-23, G-17).
  public var envelopeCode: String {
    switch self {
    case .invalidCredentials: "INVALID_CREDENTIALS"
    case .emailUnverified: "EMAIL_UNVERIFIED"
    case .accountLocked: "ACCOUNT_LOCKED"
    case .otpIncorrect: "OTP_INCORRECT"
    case .invalidEmail, .weakPassword: "VALIDATION_ERROR"
    case .duplicateEmail, .emailAlreadyExists: "USER_EXISTS"
    case .rateLimited, .tooManyAttempts: "TOO_MANY_AUTH_ATTEMPTS"
    case .networkUnavailable: "NETWORK_UNAVAILABLE"
    case .unknown: "INTERNAL_ERROR"
    }
  }

  /// The error's own text. A sign-in route sends `veiled(in: .login)` instead of the error.
  public var envelopeMessage: String { AuthErrorMapper.message(for: self) }

  /// The field of an error that local validation finds too.
  public var envelopeValidationErrors: [ErrorResponse.ValidationError] {
    switch self {
    case .invalidEmail: [.init(field: "email", message: envelopeMessage)]
    case .weakPassword: [.init(field: "password", message: envelopeMessage)]
    case .networkUnavailable, .invalidCredentials, .emailUnverified, .rateLimited, .otpIncorrect,
      .duplicateEmail, .unknown, .emailAlreadyExists, .accountLocked, .tooManyAttempts:
      []
    }
  }
}

extension ValidationError: EnvelopeError {
  /// Always 400.
  public var envelopeStatus: Int { 400 }
  /// Always the same code.
  public var envelopeCode: String { "VALIDATION_ERROR" }
  /// The error's own text.
  public var envelopeMessage: String { localizedDescription }
  /// The error, on its field.
  public var envelopeValidationErrors: [ErrorResponse.ValidationError] {
    [.init(field: field, message: envelopeMessage)]
  }
}
