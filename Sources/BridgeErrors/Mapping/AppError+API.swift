extension AppError {
  /// An API client's error in the runtime's vocabulary (G-23).
  ///
  /// `endpoint` is the requested route, `timeout` the configured one in seconds, `type` what a
  /// success would have been: the client knows them, the error does not.
  public init(
    apiError: APIError, endpoint: String = "unknown", timeout: Int = 60, type: String = "response"
  ) {
    self =
      switch apiError {
      case .networkError, .noInternetConnection: .networkUnavailable
      case .unauthorized: .apiUnauthorized
      case .forbidden: .serverError(status: 403, message: nil)
      case .notFound: .apiNotFound(endpoint: endpoint)
      case .serverError(let status): .serverError(status: status, message: nil)
      case .decodingError:
        .apiDecodingError(type: type, detail: "The answer is not a \(type).")
      case .encodingError:
        .encodingError(type: type, detail: "The request could not be encoded.")
      case .invalidURL: .invalidURL(string: endpoint)
      case .requestTimeout: .timeout(seconds: timeout)
      case .badRequest(let message): .apiBadRequest(message: message)
      case .conflict(let message): .serverError(status: 409, message: message)
      case .unknownError(429, _): .apiRateLimited(retryAfter: nil)
      case .unknownError(let status, _): .serverError(status: status, message: nil)
      }
  }

  /// An API client's failure in the runtime's vocabulary: its error, except that a limit keeps the
  /// wait that the server requires (G-18, G-28) and a cancellation stays one (G-26).
  public init(
    apiFailure: APIFailure, endpoint: String = "unknown", timeout: Int = 60,
    type: String = "response"
  ) {
    if apiFailure.isCancellation {
      self = .cancelled
    } else if apiFailure.status == 429 {
      self = .apiRateLimited(retryAfter: apiFailure.retryAfter)
    } else {
      self.init(apiError: apiFailure.error, endpoint: endpoint, timeout: timeout, type: type)
    }
  }
}
