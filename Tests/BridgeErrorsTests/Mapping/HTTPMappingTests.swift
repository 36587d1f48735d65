import BridgeErrors
import Testing

@Suite("HTTP statuses")
struct HTTPMappingTests {
  @Test func everyHTTPStatus() {
    for status in -1...1000 {
      let expected: AppError =
        switch status {
        case 400: .apiBadRequest(message: "m")
        case 401: .apiUnauthorized
        case 404: .apiNotFound(endpoint: "/e")
        case 429: .apiRateLimited(retryAfter: 7)
        default: .serverError(status: status, message: "m")
        }
      let error = AppError(httpStatus: status, message: "m", endpoint: "/e", retryAfter: 7)
      #expect(error == expected)
    }
  }

  @Test func whatAnHTTPStatusSaysWithoutMore() {
    #expect(AppError(httpStatus: 400) == .apiBadRequest(message: "Bad request"))
    #expect(AppError(httpStatus: 404) == .apiNotFound(endpoint: "unknown"))
    #expect(AppError(httpStatus: 429) == .apiRateLimited(retryAfter: nil))
    #expect(AppError(httpStatus: 503) == .serverError(status: 503, message: nil))
  }
}
