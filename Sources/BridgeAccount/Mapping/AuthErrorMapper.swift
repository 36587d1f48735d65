import BridgeErrors
import Foundation

/// From a backend's answer to `AuthError`, and from there to the words a person reads.
public enum AuthErrorMapper {
  /// The error of a backend's answer, and whether the current session is to be dropped
  /// (S0-11…S0-32, G-51). A known code wins over the status.
  public static func map(_ error: AuthClientError) -> (error: AuthError, clearsSession: Bool) {
    if let row = error.code.flatMap({ SupabaseCode(rawValue: $0.lowercased()) }),
      let mapped = row.error
    {
      return (mapped, row.clearsSession)
    }
    return switch error.status {
    case 401, 403: (.invalidCredentials, true)
    case 429: (.rateLimited, false)
    default: (.unknown, false)
    }
  }

  /// Any error as an `AuthError`. A failed exchange is a network fault, whatever its code (S0-24).
  public static func normalize(_ error: any Error) -> AuthError {
    switch error {
    case let error as AuthError: error
    case let error as AuthClientError: map(error).error
    case is URLError: .networkUnavailable
    case let failure as APIFailure where failure.status == 429: .rateLimited
    case let failure as APIFailure: normalize(failure.error)
    case let error as APIError: canonical(error)
    default: .unknown
    }
  }

  private static func canonical(_ error: APIError) -> AuthError {
    switch error {
    case .networkError, .noInternetConnection, .requestTimeout: .networkUnavailable
    case .unauthorized: .invalidCredentials
    case .forbidden, .notFound, .serverError, .decodingError, .encodingError, .invalidURL,
      .badRequest, .conflict, .unknownError:
      .unknown
    }
  }

  /// The literal text of an error (S0-37…S0-43, S3-13…S3-17).
  public static func message(for error: AuthError) -> String {
    switch error {
    case .networkUnavailable:
      "We can't reach the server. Check your connection and try again."
    case .invalidCredentials: "That email or password looks incorrect"
    case .emailUnverified: "Verify your email before signing in"
    case .rateLimited: "Too many attempts. Please try again shortly."
    case .otpIncorrect: "That code isn't right. Double-check and try again."
    case .duplicateEmail: "An account with this email already exists. Try logging in instead."
    case .unknown: "Something went wrong. Please try again."
    case .invalidEmail: "Please enter a valid email address."
    case .weakPassword: "Password must be at least 8 characters with letters and numbers."
    case .emailAlreadyExists: "An account with this email already exists."
    case .accountLocked: "Your account has been temporarily locked. Try again in 15 minutes."
    case .tooManyAttempts: "Too many login attempts. Please wait before trying again."
    }
  }

  /// The text of a backend's answer: by its code (S2-08…S2-20), else by what it maps to (G-02).
  public static func message(for error: AuthClientError) -> String {
    let row = error.code.flatMap { SupabaseCode(rawValue: $0.lowercased()) }
    return row?.message ?? message(for: map(error).error)
  }

  /// The text of any error, without regard to a flow.
  public static func message(for error: any Error) -> String {
    if let error = error as? AuthClientError { return message(for: error) }
    return message(for: normalize(error))
  }

  /// The text of any error as `flow` may say it: signing in never confirms an account (G-52), so a
  /// bare 403 is a wrong password, whichever service reports it.
  public static func message(for error: any Error, flow: AuthFlow) -> String {
    let error = HostAccountService.map(error, flow: flow)
    let normalized = normalize(error)
    let veiled = normalized.veiled(in: flow)
    return veiled == normalized ? message(for: error) : message(for: veiled)
  }
}

/// The codes of Supabase that are known (S0-11…S0-23, S2-08…S2-20).
enum SupabaseCode: String, CaseIterable {
  case invalidCredentials = "invalid_credentials"
  case emailNotConfirmed = "email_not_confirmed"
  case emailNotVerified = "email_not_verified"
  case overEmailSendRateLimit = "over_email_send_rate_limit"
  case overRequestRateLimit = "over_request_rate_limit"
  case overSMSSendRateLimit = "over_sms_send_rate_limit"
  case otpExpired = "otp_expired"
  case otpDisabled = "otp_disabled"
  case otpInvalid = "otp_invalid"
  case userAlreadyExists = "user_already_exists"
  case weakPassword = "weak_password"
  case sessionNotFound = "session_not_found"
  case sessionExpired = "session_expired"

  /// The error of the code; nil where the status decides (S0-21).
  var error: AuthError? {
    switch self {
    case .invalidCredentials, .sessionNotFound, .sessionExpired: .invalidCredentials
    case .emailNotConfirmed, .emailNotVerified: .emailUnverified
    case .overEmailSendRateLimit, .overRequestRateLimit, .overSMSSendRateLimit: .rateLimited
    case .otpExpired, .otpDisabled, .otpInvalid: .otpIncorrect
    case .userAlreadyExists: .duplicateEmail
    case .weakPassword: nil
    }
  }

  /// A text that the code has beside its error's (S2-18).
  var message: String? {
    self == .weakPassword ? "Please choose a stronger password." : nil
  }

  /// Whether the session is gone.
  var clearsSession: Bool {
    error == .invalidCredentials
  }
}
