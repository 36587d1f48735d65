import BridgeErrors
import BridgeURLErrors
import Foundation
import Testing

@Suite struct APIErrorWrappingTests {
  static let urlErrors: [(URLError.Code, APIError)] = [
    (.notConnectedToInternet, .noInternetConnection),
    (.networkConnectionLost, .noInternetConnection),
    (.timedOut, .requestTimeout), (.cannotConnectToHost, .networkError),
    (.cannotFindHost, .networkError), (.serverCertificateUntrusted, .networkError),
  ]

  @Test(arguments: urlErrors)
  func aFailedExchangeIsMappedByCode(code: URLError.Code, expected: APIError) {
    #expect(APIError(urlError: URLError(code)) == expected)
    #expect(APIError(wrapping: URLError(code)) == expected)
  }

  @Test func whatIsAlreadyAnAPIErrorPassesThrough() {
    #expect(APIError(wrapping: APIError.notFound) == .notFound)
    #expect(APIError(wrapping: APIFailure(error: .unauthorized, status: 401)) == .unauthorized)
  }

  @Test func codingErrorsAndStrangersHaveTheirRows() {
    let context = DecodingError.Context(codingPath: [], debugDescription: "")
    #expect(APIError(wrapping: DecodingError.dataCorrupted(context)) == .decodingError)
    let encoding = EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: ""))
    #expect(APIError(wrapping: encoding) == .encodingError)
    #expect(APIError(wrapping: SecureError.operationFailed) == .networkError)
  }
}
