import BridgeAccount
import BridgeErrors
import Foundation
import Testing

private let invalid = "That email or password looks incorrect"
private let limited = "Too many attempts. Please try again shortly."
private let code = "That code isn't right. Double-check and try again."
private let verify = "Verify your email before signing in"
private let unknown = "Something went wrong. Please try again."

private struct Row: Sendable {
  var code: String
  var status: Int
  var error: AuthError
  var message: String
  var clearsSession = false
}

private let rows = [
  Row(
    code: "invalid_credentials", status: 401, error: .invalidCredentials, message: invalid,
    clearsSession: true),
  Row(code: "email_not_confirmed", status: 400, error: .emailUnverified, message: verify),
  Row(code: "email_not_verified", status: 400, error: .emailUnverified, message: verify),
  Row(code: "over_email_send_rate_limit", status: 429, error: .rateLimited, message: limited),
  Row(code: "over_request_rate_limit", status: 429, error: .rateLimited, message: limited),
  Row(code: "over_sms_send_rate_limit", status: 429, error: .rateLimited, message: limited),
  Row(code: "otp_expired", status: 400, error: .otpIncorrect, message: code),
  Row(code: "otp_disabled", status: 400, error: .otpIncorrect, message: code),
  Row(code: "otp_invalid", status: 400, error: .otpIncorrect, message: code),
  Row(
    code: "user_already_exists", status: 422, error: .duplicateEmail,
    message: "An account with this email already exists. Try logging in instead."),
  Row(
    code: "weak_password", status: 400, error: .unknown,
    message: "Please choose a stronger password."),
  Row(
    code: "session_not_found", status: 401, error: .invalidCredentials, message: invalid,
    clearsSession: true),
  Row(
    code: "session_expired", status: 401, error: .invalidCredentials, message: invalid,
    clearsSession: true),
]

@Suite struct AuthErrorMapperTests {
  @Test(arguments: rows.indices)
  func aCodeHasItsErrorAndText(index: Int) {
    let row = rows[index]
    for spelling in [row.code, row.code.uppercased()] {
      let error = AuthClientError(
        status: row.status, code: spelling, message: "raw backend text")
      let mapped = AuthErrorMapper.map(error)
      #expect(mapped.error == row.error)
      #expect(mapped.clearsSession == row.clearsSession)
      #expect(AuthErrorMapper.normalize(error) == row.error)
      #expect(AuthErrorMapper.message(for: error) == row.message)
      #expect(error.localizedDescription == row.message)
    }
  }

  @Test func aKnownCodeWinsOverTheStatus() {
    for row in rows where row.code != "weak_password" {
      let error = AuthClientError(status: 500, code: row.code, message: "")
      #expect(AuthErrorMapper.map(error).error == row.error)
    }
  }

  @Test(arguments: [
    (401, AuthError.invalidCredentials, true), (403, .invalidCredentials, true),
    (429, .rateLimited, false), (400, .unknown, false), (422, .unknown, false),
    (500, .unknown, false),
  ])
  func theStatusDecidesWithoutAKnownCode(status: Int, expected: AuthError, clears: Bool) {
    for code in [nil, "", "brand_new"] as [String?] {
      let mapped = AuthErrorMapper.map(.init(status: status, code: code, message: "x"))
      #expect(mapped.error == expected)
      #expect(mapped.clearsSession == clears)
    }
  }

  @Test func aWeakPasswordKeepsItsTextAndTheStatusItsError() {
    let error = AuthClientError(status: 429, code: "weak_password", message: "")
    #expect(AuthErrorMapper.map(error).error == .rateLimited)
    #expect(AuthErrorMapper.message(for: error) == "Please choose a stronger password.")
  }

  @Test(arguments: [
    URLError.Code.notConnectedToInternet, .timedOut, .cannotFindHost, .badServerResponse,
    .serverCertificateUntrusted,
  ])
  func aFailedExchangeIsANetworkFault(code: URLError.Code) {
    #expect(AuthErrorMapper.normalize(URLError(code)) == .networkUnavailable)
  }

  @Test(arguments: [
    (APIError.networkError, AuthError.networkUnavailable),
    (.noInternetConnection, .networkUnavailable), (.requestTimeout, .networkUnavailable),
    (.unauthorized, .invalidCredentials), (.forbidden, .unknown), (.serverError(500), .unknown),
    (.conflict("taken"), .unknown),
  ])
  func anErrorOfTheHTTPClientIsFolded(error: APIError, expected: AuthError) {
    #expect(AuthErrorMapper.normalize(error) == expected)
    #expect(AuthErrorMapper.normalize(APIFailure(error: error)) == expected)
    #expect(AuthErrorMapper.normalize(APIFailure(error: error, status: 429)) == .rateLimited)
  }

  /// Whichever service reports it (docs/contract.md, "Account").
  @Test func aBareForbiddenAtSignInIsAWrongPassword() {
    let wrong = "That email or password looks incorrect"
    for error in [APIError.forbidden, APIFailure(error: .forbidden, status: 403)] as [any Error] {
      #expect(AuthErrorMapper.message(for: error, flow: .login) == wrong)
      #expect(AuthErrorMapper.message(for: error, flow: .signup) == unknown)
    }
    let locked = APIFailure(error: .forbidden, status: 403, code: "ACCOUNT_LOCKED")
    #expect(
      AuthErrorMapper.message(for: locked, flow: .login)
        == AuthErrorMapper.message(for: AuthError.accountLocked, flow: .login))
  }

  @Test func aStrangerSaysTheFallback() {
    struct Stranger: Error {}
    #expect(AuthErrorMapper.normalize(Stranger()) == .unknown)
    #expect(AuthErrorMapper.message(for: Stranger() as any Error) == unknown)
    #expect(AuthErrorMapper.message(for: Stranger(), flow: .login) == unknown)
  }

  @Test func aTakenAddressIsNotConfirmedAtSignIn() {
    let error = AuthClientError(status: 422, code: "user_already_exists", message: "")
    #expect(AuthErrorMapper.message(for: error, flow: .login) == invalid)
    #expect(AuthErrorMapper.message(for: error, flow: .signup) != invalid)
  }
}

/// The contract tests of the error message mapping, under the names they have there.
@Suite struct ContractMappingTests {
  @Test func testMapInvalidCredentialsError() {
    let error = AuthClientError(
      status: 401, code: "invalid_credentials", message: "Invalid login credentials")
    #expect(AuthErrorMapper.normalize(error) == .invalidCredentials)
  }

  @Test func testMapDuplicateEmailError() {
    let error = AuthClientError(
      status: 422, code: "user_already_exists", message: "User already registered")
    #expect(AuthErrorMapper.normalize(error) == .duplicateEmail)
  }

  @Test func testMapUnknownError() {
    let error = AuthClientError(
      status: 500, code: "server_error", message: "Internal server error")
    #expect(AuthErrorMapper.normalize(error) == .unknown)
  }

  @Test func testMapNetworkError() {
    #expect(
      AuthErrorMapper.normalize(URLError(.notConnectedToInternet)) == .networkUnavailable)
  }

  @Test func testInvalidCredentialsMessage() {
    #expect(AuthErrorMapper.message(for: AuthError.invalidCredentials) == invalid)
  }

  @Test func testDuplicateEmailMessage() {
    #expect(
      AuthErrorMapper.message(for: AuthError.duplicateEmail)
        == "An account with this email already exists. Try logging in instead.")
  }

  @Test func testUnknownErrorMessage() {
    #expect(AuthErrorMapper.message(for: AuthError.unknown) == unknown)
  }
}
