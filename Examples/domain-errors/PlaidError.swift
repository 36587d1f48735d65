import BridgeErrors
import Foundation

/// What can go wrong with a bank connection: an error domain of the app's own.
enum PlaidError: Error, CaseIterable {
  case linkTokenExpired
  case institutionNotSupported
  case accountLinkingFailed
  case itemUpdateRequired
}

extension PlaidError: LocalizedError {
  var errorDescription: String? {
    switch self {
    case .linkTokenExpired: "The bank connection link has expired. Please try again."
    case .institutionNotSupported: "This bank is not currently supported."
    case .accountLinkingFailed: "Unable to connect to your bank. Please try again."
    case .itemUpdateRequired: "Please update your bank connection in settings."
    }
  }
}

/// How the app's host answers a client with it.
extension PlaidError: EnvelopeError {
  var envelopeStatus: Int {
    switch self {
    case .linkTokenExpired: 410
    case .institutionNotSupported: 422
    case .accountLinkingFailed: 502
    case .itemUpdateRequired: 409
    }
  }

  var envelopeCode: String {
    switch self {
    case .linkTokenExpired: "LINK_TOKEN_EXPIRED"
    case .institutionNotSupported: "INSTITUTION_NOT_SUPPORTED"
    case .accountLinkingFailed: "ACCOUNT_LINKING_FAILED"
    case .itemUpdateRequired: "ITEM_UPDATE_REQUIRED"
    }
  }

  var envelopeMessage: String { localizedDescription }
}

/// How it enters the runtime: one exhaustive table, so that severity, options and retries follow.
extension AppError {
  init(_ error: PlaidError) {
    self =
      switch error {
      case .linkTokenExpired: .apiUnauthorized
      case .institutionNotSupported: .featureUnavailable(feature: "bank connection")
      case .accountLinkingFailed:
        .serverError(status: 502, message: error.localizedDescription)
      case .itemUpdateRequired:
        .validationError(field: "Bank connection", message: error.localizedDescription)
      }
  }
}
