import BridgeErrors
import Foundation
import Testing

private let rows: [(error: APIError, text: String, isRetryable: Bool, requiresReauth: Bool)] = [
  (
    .networkError, "Unable to connect to the server. Please check your internet connection.",
    true, false
  ),
  (.unauthorized, "Your session has expired. Please log in again.", false, true),
  (.forbidden, "You don't have permission to perform this action.", false, false),
  (.notFound, "The requested information could not be found.", false, false),
  (.serverError(500), "Server error (500). Please try again later.", true, false),
  (.serverError(503), "Server error (503). Please try again later.", true, false),
  (.decodingError, "There was a problem processing the server response.", false, false),
  (.encodingError, "There was a problem with your request.", false, false),
  (.invalidURL, "Invalid request. Please try again.", false, false),
  (.requestTimeout, "The request timed out. Please try again.", true, false),
  (
    .noInternetConnection, "No internet connection. Please check your network settings.",
    true, false
  ),
  (.badRequest("Name is taken"), "Name is taken", false, false),
  (.conflict("Already there"), "Already there", false, false),
  (.unknownError(418, "<html>"), "An unexpected error occurred. Please try again.", false, false),
]

@Suite struct APIErrorTests {
  @Test(arguments: rows.indices)
  func saysItsTextAndFlags(row: Int) {
    let row = rows[row]
    #expect(row.error.errorDescription == row.text)
    #expect(row.error.localizedDescription == row.text)
    #expect(row.error.isRetryable == row.isRetryable)
    #expect(row.error.requiresReauth == row.requiresReauth)
    let failure = APIFailure(error: row.error)
    #expect(failure.isRetryable == row.isRetryable)
    #expect(failure.requiresReauth == row.requiresReauth)
  }

  @Test func anEmptyMessageOfTheServerIsReplaced() {
    for error in [APIError.badRequest(""), .conflict("\u{1B}\u{7}")] {
      #expect(error.errorDescription?.isEmpty == false)
    }
  }

  @Test func aHostileMessageOfTheServerIsBoundedAndEscaped() throws {
    let hostile = "\u{1B}[31m\u{202E}\0" + String(repeating: "x", count: 1_000_000)
    let text = try #require(APIError.badRequest(hostile).errorDescription)
    #expect(text.utf8.count < 8_192)
    for scalar in ["\u{1B}", "\u{202E}", "\0"] as [Unicode.Scalar] {
      #expect(!text.unicodeScalars.contains(scalar))
    }
  }
}

@Suite struct SecureErrorTests {
  @Test func saysNothingAboutAccountsOrInfrastructure() {
    #expect(SecureError.authenticationFailed.localizedDescription == "Invalid email or password.")
    #expect(
      SecureError.operationFailed.localizedDescription == "Operation failed. Please try again.")
  }
}
