extension AppError {
  /// The typed error of any error: by its mapper where it has one, else `unknown` (G-40, S1-167).
  ///
  /// An error of URLSession has one in a program that links BridgeURLErrors.
  public init(wrapping error: any Error) {
    switch error {
    case let known as AppError: self = known
    case let failure as SSHFailure: self.init(sshError: failure)
    case let failure as WebSocketFailure: self.init(webSocketFailure: failure)
    case is CancellationError: self = .cancelled
    case let foreign as any ForeignError: self = foreign.appError
    case let error as DecodingError: self.init(error)
    case let error as EncodingError: self.init(error)
    default: self = .unknown(message: PeerText.escaped(ErrorText.of(error)))
    }
  }

  /// The typed error of an error that came up while another one was being handled (S1-164, G-40).
  ///
  /// Only the names of the two cases are kept: their payloads may come from anywhere.
  public init(wrapping error: any Error, whileHandling outer: AppError) {
    let inner = AppError(wrapping: error)
    self = .internalError(detail: "\(inner.caseName) while handling \(outer.caseName)")
  }

  /// The library may add cases to both types; today it has none besides these.
  private init(_ error: DecodingError) {
    var (type, detail) = ("data", "unreadable")
    switch error {
    case .typeMismatch(let expected, let context), .valueNotFound(let expected, let context):
      (type, detail) = ("\(expected)", context.words)
    case .keyNotFound(let key, let context):
      (type, detail) = ("object", "no \(PeerText.escaped(key.stringValue)), " + context.words)
    default:
      if case .dataCorrupted(let context) = error { detail = context.words }
    }
    self = .decodingError(type: type, detail: detail)
  }

  private init(_ error: EncodingError) {
    var (type, detail) = ("data", "unwritable")
    if case .invalidValue(let value, let context) = error {
      (type, detail) = ("\(Swift.type(of: value))", Self.path(context.codingPath))
    }
    self = .encodingError(type: type, detail: detail)
  }

  fileprivate static func path(_ keys: [any CodingKey]) -> String {
    let names = keys.map { PeerText.escaped($0.stringValue, limit: 64) }
    return "at " + (names.isEmpty ? "the top" : names.joined(separator: "."))
  }
}

extension DecodingError.Context {
  /// Where, not what: the debug description may quote the data.
  fileprivate var words: String { AppError.path(codingPath) }
}
