/// The screen of the account flow (S2-01).
public enum AuthNavigationState: Sendable, Equatable {
  /// "Sign In" or "Create Account".
  case choice
  /// The form for signing in.
  case login
  /// `consentAccepted`: whether the terms were accepted.
  case signup(consentAccepted: Bool)
  /// The form that requests a code for a new password.
  case resetRequest
  /// `pendingEmail`: where the code was sent.
  case resetVerify(pendingEmail: String)

  /// The flow of this screen, nil on the choice.
  public var flow: AuthFlow? {
    switch self {
    case .choice: nil
    case .login: .login
    case .signup: .signup
    case .resetRequest, .resetVerify: .reset
    }
  }
}

/// Whether requests can be sent at all.
public enum NetworkStatus: Sendable, Hashable {
  /// Requests can be sent.
  case online
  /// No network.
  case offline
}

/// A message that is no error (S0-55).
public struct AuthBanner: Sendable, Equatable {
  /// Its appearance.
  public enum Kind: Sendable, Hashable {
    /// Neutral information.
    case info
  }

  /// Its appearance.
  public var type: Kind
  /// The text.
  public var message: String

  /// A banner that says `message`.
  public init(type: Kind, message: String) {
    self.type = type
    self.message = message
  }
}

/// The one place below a form where something is said: an error and a banner at once cannot be
/// (S0-64, G-49).
public enum AuthSlot: Sendable, Equatable {
  /// No message.
  case empty
  /// The text of an error.
  case error(String)
  /// A message that is no error.
  case status(AuthBanner)
}

/// A field of the form, by the identifier that tests and assistive technology find it with
/// (S2-32…S2-34).
public enum AuthField: String, Sendable, Hashable, CaseIterable {
  /// The address.
  case email = "auth_email"
  /// The password.
  case password = "auth_password"
  /// The repeated password.
  case confirmPassword = "auth_confirm_password"

  /// The label that is read before the input (S2-27).
  public var label: String {
    switch self {
    case .email: "Email"
    case .password: "Password"
    case .confirmPassword: "Confirm Password"
    }
  }
}

/// The other identifiers of the flow (S0-68, S2-30…S2-37) and what is read out for them.
public enum AuthIdentifier {
  /// The button "Sign In" of the choice.
  public static let choiceSignIn = "auth_choice_signin"
  /// The button "Create Account" of the choice.
  public static let choiceSignUp = "auth_choice_signup"
  /// The box of the terms.
  public static let consent = "auth_consent"
  /// The button that submits.
  public static let submit = "auth_submit"
  /// The text of the slot; an alert, announced when it changes.
  public static let errorMessage = "auth_error_message"
  /// The banner of the slot.
  public static let statusMessage = "auth_status_message"
  /// The code of a reset.
  public static let code = "auth_code"
  /// The title of the screen.
  public static let title = "auth_title"

  /// The label of the button to the login (S2-26, S2-38).
  public static let signInLabel = "Sign In"
  /// The accessibility hint (S2-38).
  public static let signInHint = "Navigate to login screen"
  /// The label of the button to the signup (S2-26).
  public static let signUpLabel = "Create Account"
  /// The word that is read before the text of the slot (S0-69).
  public static let errorLabel = "Error"
}
