public import BridgeErrors
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
}
