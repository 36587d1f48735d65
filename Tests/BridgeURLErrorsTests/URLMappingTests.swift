import BridgeErrors
import BridgeURLErrors
import Foundation
import Testing

@Suite("URL loading failures")
struct URLMappingTests {
  /// By its name in the specification (S1-175).
  @Test func testNetworkErrorMapping() {
    let urlError = URLError(.notConnectedToInternet)
    let appError = AppError(urlError: urlError)

    #expect(appError == .networkUnavailable)
    #expect(appError.title == "No Connection")
    #expect(appError.severity == .warning)
  }

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

  @Test func wrappingGoesByTheCode() {
    #expect(AppError(wrapping: URLError(.cancelled)) == .cancelled)
    #expect(AppError(wrapping: URLError(.timedOut)) == .timeout(seconds: 60))
    #expect(AppError(sshError: URLError(.timedOut), host: "h").caseName == "sshConnectionFailed")
  }

  @Test func anErrorOfFoundationIsUnknownWithItsDescription() {
    let errors: [any Error] = [
      NSError(domain: "D", code: 3),
      NSError(domain: "D", code: 3, userInfo: [NSLocalizedDescriptionKey: "own words"]),
      CocoaError(.fileReadNoSuchFile), CocoaError(.fileWriteUnknown), POSIXError(.EIO),
    ]
    for error in errors {
      #expect(AppError(wrapping: error) == .unknown(message: error.localizedDescription))
    }
  }
}
