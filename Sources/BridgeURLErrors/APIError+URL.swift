public import BridgeErrors
public import Foundation

extension APIError {
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
