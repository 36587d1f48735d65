#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What went wrong between a client and an HTTP API, in the words a person reads.
///
/// The first ten cases and their texts are S3-01…S3-10; the last three come from S4-19…S4-30. What
/// the server said beside it (text, code, correlation id) travels in `APIFailure`.
public enum APIError: Error, Sendable, Equatable {
  /// The server could not be reached, or answered nothing that is HTTP.
  case networkError
  /// 401: the session is gone.
  case unauthorized
  /// 403, or too many sign-in attempts.
  case forbidden
  /// 404.
  case notFound
  /// 500…599, by status.
  case serverError(Int)
  /// A success body that is not of the requested type.
  case decodingError
  /// The request's body could not be encoded.
  case encodingError
  /// The request's URL could not be built.
  case invalidURL
  /// 408, or no answer in time.
  case requestTimeout
  /// This machine is offline.
  case noInternetConnection
  /// 400, with the server's message.
  case badRequest(String)
  /// 409, with the server's message.
  case conflict(String)
  /// Any other status, with the message or the first KiB of the body; neither is ever shown.
  case unknownError(Int, String)

  /// Whether the same request may succeed a little later.
  public var isRetryable: Bool {
    switch self {
    case .networkError, .serverError, .requestTimeout, .noInternetConnection: true
    case .unauthorized, .forbidden, .notFound, .decodingError, .encodingError, .invalidURL,
      .badRequest, .conflict, .unknownError:
      false
    }
  }

  /// Whether only signing in again helps.
  public var requiresReauth: Bool {
    self == .unauthorized
  }
}

extension APIError: LocalizedError {
  /// The text for a person. Never holds a body, a host or a path.
  public var errorDescription: String? {
    switch self {
    case .networkError:
      "Unable to connect to the server. Please check your internet connection."
    case .unauthorized: "Your session has expired. Please log in again."
    case .forbidden: "You don't have permission to perform this action."
    case .notFound: "The requested information could not be found."
    case .serverError(let status): "Server error (\(status)). Please try again later."
    case .decodingError: "There was a problem processing the server response."
    case .encodingError: "There was a problem with your request."
    case .invalidURL: "Invalid request. Please try again."
    case .requestTimeout: "The request timed out. Please try again."
    case .noInternetConnection: "No internet connection. Please check your network settings."
    case .badRequest(let message), .conflict(let message): APIText.shown(message)
    case .unknownError: APIText.unexpected
    }
  }
}

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
}
