import BridgeAccount
import BridgeErrors
import Foundation
import Testing

@Suite struct HostAccountServiceTests {
  private struct Carrier: AccountCarrier {
    var failure: (any Error)?
    var answer = #"{"user":{"id":"u-1"},"token":"t","extra":1}"#
    var path: String

    func post<Body: Encodable & Sendable, Answer: Decodable & Sendable>(
      _ path: String, body: Body
    ) async throws -> Answer {
      #expect(path == self.path)
      if let failure { throw failure }
      return try JSONDecoder().decode(Answer.self, from: Data(answer.utf8))
    }
  }

  private let login = LoginRequest(email: "ann@example.com", password: "password123")
  private let register = RegisterRequest(email: "ann@example.com", password: "password123")

  @Test func asksItsRoutes() async throws {
    let user = AuthResponse(user: .init(id: "u-1"), token: "t")
    #expect(
      try await HostAccountService(carrier: Carrier(path: "/api/auth/login")).login(login) == user)
    #expect(
      try await HostAccountService(carrier: Carrier(path: "/api/auth/register"))
        .register(register) == user)
    try await HostAccountService(carrier: Carrier(path: "/api/auth/reset"))
      .requestReset(email: "ann@example.com")
    try await HostAccountService(carrier: Carrier(path: "/api/auth/reset/confirm"))
      .confirmReset(email: "ann@example.com", code: "1", newPassword: "2")
  }

  static let rows: [(AuthFlow, APIError, String?, AuthError?)] = [
    (.login, .unauthorized, "INVALID_CREDENTIALS", .invalidCredentials),
    (.login, .unauthorized, nil, .invalidCredentials),
    (.login, .forbidden, nil, .invalidCredentials),
    (.login, .forbidden, "ACCOUNT_LOCKED", .accountLocked),
    (.login, .forbidden, "TOO_MANY_AUTH_ATTEMPTS", .tooManyAttempts),
    (.login, .conflict("taken"), "USER_EXISTS", nil),
    (.login, .serverError(500), "INTERNAL_ERROR", nil),
    (.signup, .conflict("taken"), "USER_EXISTS", .emailAlreadyExists),
    (.signup, .forbidden, "TOO_MANY_AUTH_ATTEMPTS", .tooManyAttempts),
    (.signup, .forbidden, nil, nil),
    (.signup, .forbidden, "ACCOUNT_LOCKED", nil),
    (.reset, .badRequest("no"), "VALIDATION_ERROR", nil),
  ]

  @Test(arguments: rows.indices)
  func anAnswerNamesAnAccountErrorOnlyByItsRow(index: Int) {
    let (flow, error, code, expected) = Self.rows[index]
    let failure = APIFailure(error: error, status: 403, code: code)
    let mapped = HostAccountService.map(failure, flow: flow)
    if let expected {
      #expect(mapped as? AuthError == expected)
    } else {
      #expect(mapped as? APIFailure == failure)
    }
  }

  @Test func aFailureOfTheCarrierIsMappedOnEveryRoute() async {
    let failure = APIFailure(error: .forbidden, status: 429, code: "TOO_MANY_AUTH_ATTEMPTS")
    func service(_ path: String) -> HostAccountService {
      HostAccountService(carrier: Carrier(failure: failure, path: path))
    }
    await #expect(throws: AuthError.tooManyAttempts) {
      try await service("/api/auth/login").login(login)
    }
    await #expect(throws: AuthError.tooManyAttempts) {
      try await service("/api/auth/register").register(register)
    }
    await #expect(throws: AuthError.tooManyAttempts) {
      try await service("/api/auth/reset").requestReset(email: "ann@example.com")
    }
    await #expect(throws: AuthError.tooManyAttempts) {
      try await service("/api/auth/reset/confirm")
        .confirmReset(email: "ann@example.com", code: "1", newPassword: "2")
    }
  }

  @Test func anAnswerWithoutUserOrTokenIsNoSession() async {
    for answer in [#"{"token":"t"}"#, #"{"user":{"id":"u"}}"#] {
      let service = HostAccountService(
        carrier: Carrier(answer: answer, path: "/api/auth/login"))
      await #expect(throws: DecodingError.self) { try await service.login(login) }
    }
  }
}
