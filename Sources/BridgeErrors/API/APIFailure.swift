#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An `APIError` with the server's text, code and correlation id: the error of an API client.
public struct APIFailure: Error, Sendable, Equatable {
  /// The error, by case.
  public var error: APIError
  /// The HTTP status, nil where no answer came.
  public var status: Int?
  /// The envelope's code, nil where there was no envelope.
  public var code: String?
  /// The server's text, escaped and bounded; nil where there was no envelope.
  public var message: String?
  /// The id that ties this failure to the server's log.
  public var correlationId: String?
  /// What the server found wrong with single fields.
  public var validationErrors: [ErrorResponse.ValidationError]
  /// The wait that the server requires, in seconds.
  public var retryAfter: Int?

  /// A failure as `error`, with what is known besides.
  public init(
    error: APIError, status: Int? = nil, code: String? = nil, message: String? = nil,
    correlationId: String? = nil, validationErrors: [ErrorResponse.ValidationError] = [],
    retryAfter: Int? = nil
  ) {
    self.error = error
    self.status = status
    self.code = code
    self.message = message
    self.correlationId = correlationId
    self.validationErrors = validationErrors
    self.retryAfter = retryAfter
  }

  /// Reads an envelope that came with `statusCode`. Peer text is escaped and bounded here.
  public init(response: ErrorResponse, statusCode: Int) {
    let body = response.error
    self.init(
      error: .fromErrorResponse(response, statusCode: statusCode), status: statusCode,
      code: APIText.code(body.code ?? ErrorResponse.unknownCode),
      message: APIText.peer(body.message),
      correlationId: body.correlationId.flatMap(CorrelationID.init(header:))?.description,
      validationErrors: (body.validationErrors ?? []).prefix(ErrorResponse.validationErrorLimit)
        .map { .init(field: APIText.peer($0.field), message: APIText.peer($0.message)) })
  }

  /// An answer outside 200…299 without an envelope: the status decides, and of the body only its
  /// first KiB is kept (G-31).
  public init(statusCode: Int, body: Data) {
    let error = APIError(httpStatus: statusCode)
    guard case .unknownError = error else {
      self.init(error: error, status: statusCode)
      return
    }
    self.init(
      error: .unknownError(statusCode, APIText.head(of: body) ?? "Unknown error"),
      status: statusCode)
  }

  /// The caller canceled. Never shown, retried or logged above debug.
  public static let cancelled = APIFailure(error: .unknownError(0, "cancelled"), code: "CANCELLED")

  /// Whether the caller canceled.
  public var isCancellation: Bool {
    self == .cancelled
  }

  /// Whether the same request may succeed a little later.
  public var isRetryable: Bool {
    error.isRetryable
  }

  /// Whether only signing in again helps.
  public var requiresReauth: Bool {
    error.requiresReauth
  }
}

extension APIFailure: LocalizedError {
  /// The text for a person: that of `error`.
  public var errorDescription: String? {
    error.errorDescription
  }
}
