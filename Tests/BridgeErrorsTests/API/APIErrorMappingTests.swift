import BridgeErrors
import Testing

@Suite struct APIErrorMappingTests {
  static let statuses: [(Int, APIError)] = [
    (400, .badRequest("m")), (401, .unauthorized), (403, .forbidden), (404, .notFound),
    (408, .requestTimeout), (409, .conflict("m")), (418, .unknownError(418, "m")),
    (422, .unknownError(422, "m")), (429, .unknownError(429, "m")), (500, .serverError(500)),
    (503, .serverError(503)), (599, .serverError(599)), (600, .unknownError(600, "m")),
    (302, .unknownError(302, "m")), (0, .unknownError(0, "m")),
  ]

  @Test(arguments: statuses)
  func theStatusDecidesWhereTheCodeSaysNothing(status: Int, expected: APIError) {
    let coded = ErrorResponse(error: .init(code: "SOMETHING_NEW", message: "m"))
    let bare = ErrorResponse(error: .init(code: nil, message: "m"))
    #expect(APIError(httpStatus: status, message: "m") == expected)
    #expect(APIError.fromErrorResponse(coded, statusCode: status) == expected)
    #expect(APIError.fromErrorResponse(bare, statusCode: status) == expected)
  }

  @Test func aClientErrorIsNeverCalledANetworkFault() {
    for status in 400...499 where status != 408 {
      #expect(!APIError(httpStatus: status).isRetryable, "\(status)")
    }
  }

  static let codes: [(String, Int, APIError)] = [
    ("INVALID_CREDENTIALS", 500, .unauthorized), ("USER_EXISTS", 422, .conflict("m")),
    ("VALIDATION_ERROR", 422, .badRequest("m")), ("INTERNAL_ERROR", 503, .serverError(503)),
    ("INTERNAL_ERROR", 400, .serverError(500)), ("INTERNAL_ERROR", 200, .serverError(500)),
    ("TOO_MANY_AUTH_ATTEMPTS", 429, .forbidden),
  ]

  @Test(arguments: codes)
  func aKnownCodeWinsOverTheStatus(code: String, status: Int, expected: APIError) {
    let response = ErrorResponse(error: .init(code: code, message: "m"))
    #expect(APIError.fromErrorResponse(response, statusCode: status) == expected)
  }
}

@Suite struct AppErrorFromAPIErrorTests {
  static let rows: [(APIError, AppError)] = [
    (.networkError, .networkUnavailable), (.noInternetConnection, .networkUnavailable),
    (.unauthorized, .apiUnauthorized), (.forbidden, .serverError(status: 403, message: nil)),
    (.notFound, .apiNotFound(endpoint: "/v1/me")),
    (.serverError(502), .serverError(status: 502, message: nil)),
    (.decodingError, .apiDecodingError(type: "User", detail: "The answer is not a User.")),
    (
      .encodingError,
      .encodingError(type: "User", detail: "The request could not be encoded.")
    ),
    (.invalidURL, .invalidURL(string: "/v1/me")), (.requestTimeout, .timeout(seconds: 7)),
    (.badRequest("m"), .apiBadRequest(message: "m")),
    (.conflict("m"), .serverError(status: 409, message: "m")),
    (.unknownError(429, "slow"), .apiRateLimited(retryAfter: nil)),
    (.unknownError(418, "<html>"), .serverError(status: 418, message: nil)),
  ]

  @Test(arguments: rows)
  func everyCaseHasItsRow(error: APIError, expected: AppError) {
    let mapped = AppError(apiError: error, endpoint: "/v1/me", timeout: 7, type: "User")
    #expect(mapped == expected)
    let failure = APIFailure(error: error, status: nil)
    #expect(
      AppError(apiFailure: failure, endpoint: "/v1/me", timeout: 7, type: "User") == expected)
  }

  @Test func aLimitKeepsTheWaitWhateverItsCode() {
    let failure = APIFailure(error: .forbidden, status: 429, retryAfter: 12)
    #expect(AppError(apiFailure: failure) == .apiRateLimited(retryAfter: 12))
  }

  @Test func aCancellationStaysOne() {
    #expect(APIFailure.cancelled.isCancellation)
    #expect(!APIFailure.cancelled.isRetryable)
    #expect(AppError(apiFailure: .cancelled) == .cancelled)
  }
}
