extension AppError {
  /// The typed error of an HTTP status (S1-131…S1-136, G-28).
  ///
  /// Total on purpose; a client calls it for a status of 400 and above.
  ///
  /// - Parameter retryAfter: the Retry-After header, in seconds.
  public init(
    httpStatus: Int, message: String? = nil, endpoint: String? = nil, retryAfter: Int? = nil
  ) {
    switch httpStatus {
    case 400: self = .apiBadRequest(message: message.map { PeerText.escaped($0) } ?? "Bad request")
    case 401: self = .apiUnauthorized
    case 404: self = .apiNotFound(endpoint: endpoint ?? "unknown")
    case 429: self = .apiRateLimited(retryAfter: retryAfter)
    default:
      self = .serverError(status: httpStatus, message: message.map { PeerText.escaped($0) })
    }
  }
}
