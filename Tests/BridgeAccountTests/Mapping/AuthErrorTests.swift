import BridgeAccount
import Foundation
import Testing

@Suite struct AuthErrorTests {
  static let texts: [(AuthError, String)] = [
    (.networkUnavailable, "We can't reach the server. Check your connection and try again."),
    (.invalidCredentials, "That email or password looks incorrect"),
    (.emailUnverified, "Verify your email before signing in"),
    (.rateLimited, "Too many attempts. Please try again shortly."),
    (.otpIncorrect, "That code isn't right. Double-check and try again."),
    (.duplicateEmail, "An account with this email already exists. Try logging in instead."),
    (.unknown, "Something went wrong. Please try again."),
    (.invalidEmail, "Please enter a valid email address."),
    (.weakPassword, "Password must be at least 8 characters with letters and numbers."),
    (.emailAlreadyExists, "An account with this email already exists."),
    (.accountLocked, "Your account has been temporarily locked. Try again in 15 minutes."),
    (.tooManyAttempts, "Too many login attempts. Please wait before trying again."),
  ]

  @Test func theTableIsWhole() {
    #expect(Self.texts.map(\.0) == AuthError.allCases)
  }

  @Test(arguments: texts)
  func saysTheSameEverywhere(error: AuthError, text: String) {
    #expect(AuthErrorMapper.message(for: error) == text)
    #expect(error.errorDescription == text)
    #expect(error.localizedDescription == text)
    #expect(AuthErrorMapper.message(for: error as any Error) == text)
    #expect(AuthErrorMapper.message(for: error, flow: .signup) == text)
    #expect(AuthErrorMapper.message(for: error, flow: .reset) == text)
  }

  @Test(arguments: texts)
  func usesPlainApostrophes(error: AuthError, text: String) {
    #expect(!text.contains("\u{2019}"))
  }

  @Test(arguments: AuthError.allCases)
  func signingInNeverConfirmsAnAccount(error: AuthError) {
    let reveals: Set<AuthError> = [.duplicateEmail, .emailAlreadyExists, .accountLocked]
    let shown = reveals.contains(error) ? .invalidCredentials : error
    #expect(error.veiled(in: .login) == shown)
    #expect(
      AuthErrorMapper.message(for: error, flow: .login) == AuthErrorMapper.message(for: shown))
    for flow in [AuthFlow.signup, .reset] { #expect(error.veiled(in: flow) == error) }
  }

  @Test func nearDuplicatesAreFolded() {
    for error in AuthError.allCases {
      let expected: AuthError =
        error == .emailAlreadyExists
        ? .duplicateEmail : error == .tooManyAttempts ? .rateLimited : error
      #expect(error.canonical == expected)
    }
  }
}

@Suite struct ValidationErrorTests {
  static let texts: [(ValidationError, String)] = [
    (.required(field: "Email"), "Email is required."),
    (.invalidFormat(field: "Email"), "Email format is invalid."),
    (.tooShort(field: "Password", minLength: 8), "Password must be at least 8 characters."),
    (.tooLong(field: "Name", maxLength: 64), "Name cannot exceed 64 characters."),
    (
      .mismatch(field1: "Password", field2: "Confirm Password"),
      "Password and Confirm Password do not match."
    ),
  ]

  @Test(arguments: texts)
  func saysItsText(error: ValidationError, text: String) {
    #expect(error.localizedDescription == text)
  }
}
