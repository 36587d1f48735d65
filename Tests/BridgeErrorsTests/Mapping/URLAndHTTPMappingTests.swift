import BridgeErrors
import Foundation
import Testing

@Suite("URL loading failures and HTTP statuses")
struct URLAndHTTPMappingTests {
  static let table: [(URLError.Code, @Sendable (String) -> AppError)] = [
    (.notConnectedToInternet, { _ in .networkUnavailable }),
    (.networkConnectionLost, { _ in .networkUnavailable }),
    (.timedOut, { _ in .timeout(seconds: 60) }),
    (.cannotFindHost, { _ in .dnsError(host: "unknown") }),
    (.dnsLookupFailed, { _ in .dnsError(host: "unknown") }),
    (.secureConnectionFailed, { .sslError(description: $0) }),
    (.serverCertificateUntrusted, { .sslError(description: $0) }),
    (.serverCertificateHasBadDate, { .sslError(description: $0) }),
    (.serverCertificateHasUnknownRoot, { .sslError(description: $0) }),
    (.serverCertificateNotYetValid, { .sslError(description: $0) }),
    (.clientCertificateRejected, { .sslError(description: $0) }),
    (.clientCertificateRequired, { .sslError(description: $0) }),
    (.badServerResponse, { .serverError(status: 0, message: $0) }),
    (.cannotConnectToHost, { .unknown(message: $0) }),
    (.badURL, { .unknown(message: $0) }),
    (.cancelled, { .unknown(message: $0) }),
    (.resourceUnavailable, { .unknown(message: $0) }),
    (.unknown, { .unknown(message: $0) }),
  ]

  @Test func everyRowOfTheURLTable() {
    for (code, expected) in Self.table {
      let error = URLError(code)
      #expect(AppError(urlError: error) == expected(error.localizedDescription), "\(code)")
    }
  }

  @Test func theHostAndTheTimeoutAreTheRealOnes() throws {
    let url = try #require(URL(string: "https://build.example/path"))
    let error = URLError(.cannotFindHost, userInfo: [NSURLErrorFailingURLErrorKey: url])
    #expect(AppError(urlError: error) == .dnsError(host: "build.example"))
    #expect(AppError(urlError: URLError(.timedOut), timeout: 5) == .timeout(seconds: 5))
  }

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
