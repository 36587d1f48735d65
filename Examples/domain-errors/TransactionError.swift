import BridgeErrors
import Foundation

/// What can go wrong with a list of transactions: another error domain of the app's own.
enum TransactionError: Error, CaseIterable {
  case noTransactionsFound
  case syncInProgress
  case categoryNotFound
}

extension TransactionError: LocalizedError {
  var errorDescription: String? {
    switch self {
    case .noTransactionsFound: "No transactions found for the selected period."
    case .syncInProgress: "Transaction sync in progress. Please wait a moment."
    case .categoryNotFound: "Transaction category not found."
    }
  }
}

/// How the app's host answers a client with it.
extension TransactionError: EnvelopeError {
  var envelopeStatus: Int {
    switch self {
    case .noTransactionsFound, .categoryNotFound: 404
    case .syncInProgress: 409
    }
  }

  var envelopeCode: String {
    switch self {
    case .noTransactionsFound: "NO_TRANSACTIONS_FOUND"
    case .syncInProgress: "SYNC_IN_PROGRESS"
    case .categoryNotFound: "CATEGORY_NOT_FOUND"
    }
  }

  var envelopeMessage: String { localizedDescription }
}

/// How it enters the runtime.
extension AppError {
  init(_ error: TransactionError) {
    self =
      switch error {
      case .noTransactionsFound:
        .sessionSearchFailed(query: "period", reason: error.localizedDescription)
      case .syncInProgress: .agentBusy
      case .categoryNotFound:
        .validationError(field: "Category", message: error.localizedDescription)
      }
  }
}
