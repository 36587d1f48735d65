/// The one error body of the HTTP and WebSocket contract (S4-01, S4-04, S4-05):
/// `{"error": {"code": …, "message": …, "correlationId": …, "validationErrors": […]}}`.
public struct ErrorResponse: Codable, Equatable, Sendable {
  /// The code of an error that has none.
  static let unknownCode = "UNKNOWN_ERROR"
  /// How many field errors of one answer are read; a form has fewer fields.
  static let validationErrorLimit = 64

  /// What is inside `error`.
  public var error: Body

  /// An envelope around `error`.
  public init(error: Body) {
    self.error = error
  }

  /// What is wrong with one field of a request.
  public struct ValidationError: Codable, Equatable, Sendable {
    /// The field's name in the request.
    public var field: String
    /// What is wrong with it, for a person.
    public var message: String

    /// A message that belongs to `field`.
    public init(field: String, message: String) {
      self.field = field
      self.message = message
    }
  }

  /// The error itself.
  public struct Body: Equatable, Sendable {
    /// The machine's name of the error, in capitals.
    public var code: String?
    /// The text for a person.
    public var message: String
    /// The id that ties the answer to the server's log.
    public var correlationId: String?
    /// What is wrong with single fields; nil where nothing is.
    public var validationErrors: [ValidationError]?

    /// An error that says `message`.
    public init(
      code: String?, message: String, correlationId: String? = nil,
      validationErrors: [ValidationError]? = nil
    ) {
      self.code = code
      self.message = message
      self.correlationId = correlationId
      self.validationErrors = validationErrors
    }
  }
}

extension ErrorResponse.Body: Codable {
  private enum CodingKeys: CodingKey {
    case code, message, correlationId, validationErrors
  }

  /// Reads an error. Only `message` is required; an extra of the wrong type counts as absent, so
  /// that a server's slip in an extra never turns its error into a success.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    message = try values.decode(String.self, forKey: .message)
    code = try? values.decodeIfPresent(String.self, forKey: .code)
    correlationId = try? values.decodeIfPresent(String.self, forKey: .correlationId)
    validationErrors = try? values.decodeIfPresent(
      [ErrorResponse.ValidationError].self, forKey: .validationErrors)
  }
}
