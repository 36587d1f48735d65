public import Foundation

extension AppError {
  /// The typed error of a URL loading failure (S1-122…S1-130, G-25).
  ///
  /// - Parameter timeout: the configured timeout, in seconds.
  public init(urlError: URLError, timeout: Int = 60) {
    switch urlError.code {
    case .notConnectedToInternet, .networkConnectionLost:
      self = .networkUnavailable
    case .timedOut:
      self = .timeout(seconds: timeout)
    case .cannotFindHost, .dnsLookupFailed:
      self = .dnsError(host: urlError.failingURL?.host ?? "unknown")
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
      .clientCertificateRejected, .clientCertificateRequired:
      self = .sslError(description: urlError.localizedDescription)
    case .badServerResponse:
      self = .serverError(status: 0, message: urlError.localizedDescription)
    default:
      self = .unknown(message: urlError.localizedDescription)
    }
  }

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
