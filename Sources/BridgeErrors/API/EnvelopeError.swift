/// An error that says by itself how it goes over the wire (G-33).
///
/// A host's own error types conform to it to be answered with their own status, code and text;
/// every other error is a plain 500.
public protocol EnvelopeError: Error {
  /// The HTTP status, 400…599.
  var envelopeStatus: Int { get }
  /// The machine's name of the error, in capitals.
  var envelopeCode: String { get }
  /// The text for a person. Below 500 it is sent, with secrets taken out; from 500 on it is not.
  var envelopeMessage: String { get }
  /// What is wrong with single fields; empty by default.
  var envelopeValidationErrors: [ErrorResponse.ValidationError] { get }
}

extension EnvelopeError {
  /// No field.
  public var envelopeValidationErrors: [ErrorResponse.ValidationError] { [] }
}

extension SecureError: EnvelopeError {
  /// 401 or 500.
  public var envelopeStatus: Int {
    switch self {
    case .authenticationFailed: 401
    case .operationFailed: 500
    }
  }

  /// `INVALID_CREDENTIALS` or `INTERNAL_ERROR`.
  public var envelopeCode: String {
    switch self {
    case .authenticationFailed: "INVALID_CREDENTIALS"
    case .operationFailed: "INTERNAL_ERROR"
    }
  }

  /// The error's own text.
  public var envelopeMessage: String { errorDescription ?? "" }
}

extension APIFailure: EnvelopeError {
  /// The status that came from upstream; 502 where none came.
  public var envelopeStatus: Int {
    guard let status, (400...599).contains(status) else { return isCancellation ? 499 : 502 }
    return status
  }

  /// The code that came from upstream.
  public var envelopeCode: String { code ?? ErrorResponse.unknownCode }

  /// The text of the error's case.
  public var envelopeMessage: String { errorDescription ?? "" }

  /// The field errors that came from upstream.
  public var envelopeValidationErrors: [ErrorResponse.ValidationError] { validationErrors }
}

extension APIError: EnvelopeError {
  /// The status of the failure this error stands for.
  public var envelopeStatus: Int {
    switch self {
    case .badRequest, .encodingError, .invalidURL: 400
    case .unauthorized: 401
    case .forbidden: 403
    case .notFound: 404
    case .conflict: 409
    case .serverError(let status): (500...599).contains(status) ? status : 500
    case .networkError, .noInternetConnection, .decodingError: 502
    case .requestTimeout: 504
    case .unknownError(let status, _): (400...599).contains(status) ? status : 502
    }
  }

  /// The code that the client's table reads back as the same error, where there is one.
  public var envelopeCode: String {
    switch self {
    case .unauthorized: "INVALID_CREDENTIALS"
    case .badRequest: "VALIDATION_ERROR"
    case .conflict: "CONFLICT"
    case .forbidden: "FORBIDDEN"
    case .notFound: "NOT_FOUND"
    case .serverError: "INTERNAL_ERROR"
    case .networkError: "NETWORK_ERROR"
    case .noInternetConnection: "NO_INTERNET_CONNECTION"
    case .decodingError: "DECODING_ERROR"
    case .encodingError: "ENCODING_ERROR"
    case .invalidURL: "INVALID_URL"
    case .requestTimeout: "REQUEST_TIMEOUT"
    case .unknownError: ErrorResponse.unknownCode
    }
  }

  /// The error's own text.
  public var envelopeMessage: String { errorDescription ?? "" }
}
