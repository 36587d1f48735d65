import Foundation
import Testing

@Suite struct DomainErrorsTests {
  static let texts = [
    "The bank connection link has expired. Please try again.",
    "This bank is not currently supported.",
    "Unable to connect to your bank. Please try again.",
    "Please update your bank connection in settings.",
    "No transactions found for the selected period.",
    "Transaction sync in progress. Please wait a moment.", "Transaction category not found.",
  ]

  @Test func anAppsOwnErrorsEnterTheRuntime() throws {
    let run = try Example.run("domain-errors")
    #expect(run.status == 0)
    for text in Self.texts { #expect(run.lines.contains("  says:    \(text)"), "\(text)") }
    let expected = [
      "PlaidError.linkTokenExpired -> apiUnauthorized (error)",
      "  answers: 410 LINK_TOKEN_EXPIRED The bank connection link has expired. Please try again.",
      "PlaidError.accountLinkingFailed -> serverError (error)",
      "  answers: 502 ACCOUNT_LINKING_FAILED Operation failed. Please try again.",
      "TransactionError.syncInProgress -> agentBusy (info)",
      "  answers: 409 SYNC_IN_PROGRESS Transaction sync in progress. Please wait a moment.",
      "shown first, 6 waiting:", "  errors{error_type=validationError} 2",
      "  errors{severity=error} 6", "  errors{severity=info} 1",
    ]
    for line in expected { #expect(run.lines.contains(line), "\(line)") }
  }
}
