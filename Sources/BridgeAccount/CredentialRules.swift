public import BridgeErrors

/// The rules of an input, and the texts where it breaks them. Two sets of texts exist and are never
/// mixed (G-20): a test of each holds them.
public struct CredentialRules: Sendable {
  /// The text for an empty address; nil where the button is off instead.
  public var emailMissing: String?
  /// The text for an invalid address.
  public var emailInvalid: String
  /// The text for an empty password; nil where the button is off instead.
  public var passwordMissing: String?
  /// The shortest password, in Characters, and what is said below it; nil where any will do.
  public var shortestPassword: (length: Int, message: String)?
  /// Whether a text can be an address.
  public var isEmail: @Sendable (String) -> Bool

  /// The flow of login, signup and reset (S0-49…S0-53, G-22).
  public static let flow = CredentialRules(
    emailMissing: nil, emailInvalid: "Enter a valid email.", passwordMissing: nil,
    shortestPassword: nil, isEmail: EmailAddress.isPlausible)

  /// The login form on its own (S3-54…S3-57).
  public static let loginForm = CredentialRules(
    emailMissing: "Please enter your email address.",
    emailInvalid: "Please enter a valid email address.",
    passwordMissing: "Please enter your password.",
    shortestPassword: (8, "Password must be at least 8 characters."),
    isEmail: { $0.contains("@") && $0.contains(".") })

  /// The first violation, in the order address, password (S3-58); nil where there is none.
  public func violation(email: String, password: Secret) -> String? {
    if email.isEmpty, let emailMissing { return emailMissing }
    if !isEmail(email) { return emailInvalid }
    if password.isEmpty, let passwordMissing { return passwordMissing }
    if let shortestPassword, password.count < shortestPassword.length {
      return shortestPassword.message
    }
    return nil
  }
}

/// The texts of the flow that belong to no error type.
enum FlowText {
  static let passwordMismatch = "Passwords don't match"
  static let consentMissing = "You must accept the terms to continue."
  static let offline = "You're offline. Try again once you're connected."
}

/// The syntax of e-mail addresses, checked locally.
public enum EmailAddress {
  /// The longest address that can be written in SMTP, in bytes (RFC 5321, 4.5.3.1.3).
  static let maximumLength = 254

  /// Whether `text` has one `@` between a local part and a domain with a dot, and no white space
  /// or control character.
  public static func isPlausible(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, text.utf8.count <= maximumLength, !parts[0].isEmpty else {
      return false
    }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
      && text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value > 32 }
  }
}
