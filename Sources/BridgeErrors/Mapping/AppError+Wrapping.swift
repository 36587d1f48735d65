import Foundation

extension AppError {
  /// The typed error of any error: by its mapper where it has one, else `unknown` (G-40, S1-167).
  public init(wrapping error: any Error) {
    switch error {
    case let known as AppError: self = known
    case let failure as SSHFailure: self.init(sshError: failure)
    case let failure as WebSocketFailure: self.init(webSocketFailure: failure)
    case is CancellationError: self = .cancelled
    case let error as URLError where error.code == .cancelled: self = .cancelled
    case let error as URLError: self.init(urlError: error)
    case let error as DecodingError: self.init(error)
    case let error as EncodingError: self.init(error)
    default: self = .unknown(message: PeerText.escaped(error.localizedDescription))
    }
  }

  /// The typed error of an error that came up while another one was being handled (S1-164, G-40).
  ///
  /// Only the names of the two cases are kept: their payloads may be anybody's.
  public init(wrapping error: any Error, whileHandling outer: AppError) {
    let inner = AppError(wrapping: error)
    self = .internalError(detail: "\(inner.caseName) while handling \(outer.caseName)")
  }

  private init(_ error: DecodingError) {
    self =
      switch error {
      case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
        .decodingError(type: "\(type)", detail: context.words)
      case .keyNotFound(let key, let context):
        .decodingError(
          type: "object", detail: "no \(PeerText.escaped(key.stringValue)), " + context.words)
      case .dataCorrupted(let context): .decodingError(type: "data", detail: context.words)
      // Not reachable with today's library, which may add cases.
      @unknown default: .decodingError(type: "data", detail: "unreadable")
      }
  }

  private init(_ error: EncodingError) {
    self =
      switch error {
      case .invalidValue(let value, let context):
        .encodingError(type: "\(type(of: value))", detail: Self.path(context.codingPath))
      @unknown default: .encodingError(type: "data", detail: "unwritable")
      }
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
