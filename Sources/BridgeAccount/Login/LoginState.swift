public import BridgeErrors
import BridgeURLErrors
import Foundation

/// All that the login form on its own shows (S3-52).
public struct LoginState: Sendable, Equatable {
  /// The typed text.
  public var email = ""
  /// The typed text.
  public var password: Secret = ""
  /// Whether a request is under way.
  public internal(set) var isLoading = false
  /// Whether the alert is shown.
  public internal(set) var showError = false
  /// The text of the alert.
  public internal(set) var errorMessage = ""
  /// Whether the alert offers to retry.
  public internal(set) var isRetryable = false
  /// Whether the alert offers to sign in again.
  public internal(set) var requiresReauth = false
  /// The signed-in user.
  public internal(set) var session: AuthResponse?

  /// An empty form.
  public init() {}

  /// The alert, nil while there is nothing to say (S3-76…S3-80).
  public var alert: LoginAlert? {
    guard showError else { return nil }
    var buttons: [LoginAlert.Button] = []
    if isRetryable { buttons.append(.retry) }
    if requiresReauth { buttons.append(.logInAgain) }
    return LoginAlert(buttons: buttons + [.dismiss], message: errorMessage)
  }

  /// Takes the alert away (S3-64).
  public mutating func clearError() {
    (showError, errorMessage, isRetryable, requiresReauth) = (false, "", false, false)
  }

  /// Checks what was typed; the first thing wrong is shown (S3-54…S3-59).
  mutating func isValid() -> Bool {
    guard let message = CredentialRules.loginForm.violation(email: email, password: password)
    else { return true }
    show(message)
    return false
  }

  /// Shows what went wrong, by the error's own words and flags (S3-60…S3-63). A cancellation is
  /// not shown.
  mutating func show(_ error: any Error) {
    switch error {
    case let error where Cancellation.caused(error): break
    // It says no more than a wrong password does.
    case let error where APIError(wrapping: error) == .forbidden:
      show(AuthErrorMapper.message(for: error, flow: .login))
    case let error as APIError: show(error)
    case let failure as APIFailure: show(failure.error)
    case let error as AuthError:
      show(AuthErrorMapper.message(for: error, flow: .login))
    case let error as ValidationError: show(error.localizedDescription)
    default: show("An unexpected error occurred. Please try again.", isRetryable: true)
    }
  }

  private mutating func show(_ error: APIError) {
    show(
      error.localizedDescription, isRetryable: error.isRetryable,
      requiresReauth: error.requiresReauth)
  }

  private mutating func show(
    _ message: String, isRetryable: Bool = false, requiresReauth: Bool = false
  ) {
    showError = true
    errorMessage = message
    self.isRetryable = isRetryable
    self.requiresReauth = requiresReauth
  }
}

/// The alert of the login form (S3-76…S3-80).
public struct LoginAlert: Sendable, Equatable {
  /// A button, named by its text.
  public enum Button: String, Sendable, Hashable, CaseIterable {
    /// Sends the request again.
    case retry = "Retry"
    /// Returns to the login form.
    case logInAgain = "Log In Again"
    /// Closes the alert.
    case dismiss = "OK"
  }

  /// Always the same title.
  public let title = "Error"
  /// The buttons in order; "OK" is always the last.
  public let buttons: [Button]
  /// The text of the alert.
  public let message: String
}
