import Foundation

/// What a host answers with when something failed: one status and one envelope for every error,
/// over HTTP and WebSocket alike (S4-34…S4-41).
public enum ErrorEnvelope {
  /// The text for an error that is not one of ours (S4-38).
  static let untypedMessage = "An unexpected error occurred"
  /// Its code (S4-37).
  static let untypedCode = "INTERNAL_ERROR"

  /// Which part of the host answers; only sign-in routes name their limit as such (G-37).
  public enum Route: Sendable, Hashable {
    /// A route of the account: signing in, signing up, resetting.
    case account
    /// Any other route.
    case other
  }

  /// Status and envelope for `error`.
  ///
  /// A typed error gives its own code and text, from status 500 on the text of
  /// `SecureError.operationFailed` instead; any other error is a 500 that says nothing (G-33). The
  /// correlation id is the request's where it is harmless, else the current task's, else a new one.
  public static func outgoing(
    for error: any Error, correlationHeader: String?, route: Route = .other
  ) -> (status: Int, envelope: ErrorResponse) {
    let id = CorrelationID.accepted(from: correlationHeader)
    guard let known = typed(error, route) else {
      let body = ErrorResponse.Body(
        code: untypedCode, message: untypedMessage, correlationId: id.description)
      return (500, ErrorResponse(error: body))
    }
    let status = (400...599).contains(known.status) ? known.status : 500
    let body = ErrorResponse.Body(
      code: APIText.code(known.code) ?? untypedCode,
      message: status < 500 ? APIText.shown(known.message) : secureMessage,
      correlationId: id.description,
      validationErrors: known.validationErrors.isEmpty ? nil : known.validationErrors)
    return (status, ErrorResponse(error: body))
  }

  private static let secureMessage = SecureError.operationFailed.localizedDescription

  private struct Typed {
    var status: Int
    var code: String
    var message: String
    var validationErrors: [ErrorResponse.ValidationError]
  }

  private static func typed(_ error: any Error, _ route: Route) -> Typed? {
    switch error {
    case let error as AppError:
      let (status, code) = wireRow(of: error, on: route)
      return Typed(
        status: status, code: code, message: error.userMessage, validationErrors: fields(of: error))
    case let error as any EnvelopeError:
      return Typed(
        status: error.envelopeStatus, code: error.envelopeCode, message: error.envelopeMessage,
        validationErrors: error.envelopeValidationErrors.prefix(ErrorResponse.validationErrorLimit)
          .map { .init(field: APIText.peer($0.field), message: APIText.peer($0.message)) })
    default:
      return nil
    }
  }

  private static func fields(of error: AppError) -> [ErrorResponse.ValidationError] {
    guard case .validationError(let field, let message) = error else { return [] }
    return [.init(field: APIText.peer(field), message: APIText.peer(message))]
  }
}
