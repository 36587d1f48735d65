import BridgeAccount
import BridgeErrors
import Foundation
import Testing

@Suite struct AccountEnvelopeTests {
  static let rows: [(AuthError, Int, String, String?)] = [
    (.networkUnavailable, 503, "NETWORK_UNAVAILABLE", nil),
    (.invalidCredentials, 401, "INVALID_CREDENTIALS", nil),
    (.emailUnverified, 403, "EMAIL_UNVERIFIED", nil),
    (.rateLimited, 429, "TOO_MANY_AUTH_ATTEMPTS", nil),
    (.otpIncorrect, 400, "OTP_INCORRECT", nil), (.duplicateEmail, 409, "USER_EXISTS", nil),
    (.unknown, 500, "INTERNAL_ERROR", nil), (.invalidEmail, 400, "VALIDATION_ERROR", "email"),
    (.weakPassword, 400, "VALIDATION_ERROR", "password"),
    (.emailAlreadyExists, 409, "USER_EXISTS", nil), (.accountLocked, 403, "ACCOUNT_LOCKED", nil),
    (.tooManyAttempts, 429, "TOO_MANY_AUTH_ATTEMPTS", nil),
  ]

  @Test(arguments: rows.indices)
  func everyAccountErrorHasItsEnvelope(index: Int) {
    #expect(Self.rows.map(\.0) == AuthError.allCases)
    let (error, status, code, field) = Self.rows[index]
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: "r-1")
    #expect(out.status == status)
    #expect(out.envelope.error.code == code)
    #expect(out.envelope.error.validationErrors?.first?.field == field)
    let text = AuthErrorMapper.message(for: error)
    #expect(
      out.envelope.error.message
        == (status < 500 ? text : "Operation failed. Please try again."))
  }

  @Test func anInputErrorNamesItsField() {
    let error = ValidationError.mismatch(field1: "Password", field2: "Confirm Password")
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: nil)
    #expect(out.status == 400)
    #expect(out.envelope.error.code == "VALIDATION_ERROR")
    #expect(out.envelope.error.validationErrors?.map(\.field) == ["Confirm Password"])
  }

  @Test func theClientReadsTheHostsAccountErrorsBack() throws {
    let trips: [(AuthError, AuthFlow, AuthError)] = [
      (.invalidCredentials, .login, .invalidCredentials), (.accountLocked, .login, .accountLocked),
      (.tooManyAttempts, .login, .tooManyAttempts),
      (.emailAlreadyExists, .signup, .emailAlreadyExists),
    ]
    for (error, flow, expected) in trips {
      let out = ErrorEnvelope.outgoing(for: error, correlationHeader: nil, route: .account)
      let data = try JSONEncoder.apiEncoder.encode(out.envelope)
      let failure = try #require(
        StandardAPIResponse<NoContent>.failure(in: data, statusCode: out.status))
      #expect(HostAccountService.map(failure, flow: flow) as? AuthError == expected)
    }
  }
}
