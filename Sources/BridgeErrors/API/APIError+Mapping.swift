public import Foundation

extension APIError {
  /// The error of an HTTP status outside 200…299, where the answer holds no usable code.
  ///
  /// One table for answers with and without an envelope (S3-34…S3-39, S4-24…S4-30, G-31): a 4xx is
  /// never called a network fault. `message` is the server's text where there is one.
  public init(httpStatus status: Int, message: String? = nil) {
    self =
      switch status {
      case 400: .badRequest(message ?? "Bad request")
      case 401: .unauthorized
      case 403: .forbidden
      case 404: .notFound
      case 408: .requestTimeout
      case 409: .conflict(message ?? "Conflict")
      case 500...599: .serverError(status)
      default: .unknownError(status, message ?? "Unknown error")
      }
  }

  /// What a server's envelope means: its code first, then the status (S4-19…S4-30, G-04).
  public static func fromErrorResponse(_ response: ErrorResponse, statusCode: Int) -> APIError {
    let message = response.error.message
    switch response.error.code ?? ErrorResponse.unknownCode {
    case "INVALID_CREDENTIALS": return .unauthorized
    case "USER_EXISTS": return .conflict(message)
    case "VALIDATION_ERROR": return .badRequest(message)
    case "INTERNAL_ERROR":
      return .serverError((500...599).contains(statusCode) ? statusCode : 500)
    case "TOO_MANY_AUTH_ATTEMPTS": return .forbidden
    default: return APIError(httpStatus: statusCode, message: message)
    }
  }

  /// What a failed exchange of URLSession means (S3-42…S3-44).
  public init(urlError: URLError) {
    self =
      switch urlError.code {
      case .notConnectedToInternet, .networkConnectionLost: .noInternetConnection
      case .timedOut: .requestTimeout
      default: .networkError
      }
  }

  /// Any error, as an API client reports it (S3-40…S3-45).
  public init(wrapping error: any Error) {
    self =
      switch error {
      case let error as APIError: error
      case let failure as APIFailure: failure.error
      case is DecodingError: .decodingError
      case is EncodingError: .encodingError
      case let error as URLError: APIError(urlError: error)
      default: .networkError
      }
  }
}
