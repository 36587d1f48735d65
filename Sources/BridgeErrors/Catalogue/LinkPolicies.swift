#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension ErrorCatalogue {
  /// What is done about a connection that failed in one way.
  public struct LinkPolicy: Sendable, Hashable, Encodable {
    /// The kind of failure (`FailureKind`).
    public let kind: String
    /// What happens by itself (`RetryClass`).
    public let retry: String
    /// The exit code of a program that ends with this failure.
    public let exitCode: Int

    /// Nil for an error without a kind.
    fileprivate init?(_ failure: ConnectionError) {
      guard let kind = failure.kind else { return nil }
      self.kind = "\(kind)"
      retry = failure.retryClass().rawValue
      exitCode = Int(failure.exitCode().rawValue)
    }
  }

  /// The ways a connection comes to end with the error of this name, mapped like real failures.
  static func links(endingWith caseName: String) -> [LinkPolicy] {
    var known: Set<LinkPolicy> = []
    return samples.filter { $0.error.caseName == caseName }.compactMap(LinkPolicy.init)
      .filter { known.insert($0).inserted }
  }

  private static let samples =
    FailureKind.allCases.filter { $0.row.protocols != .webSocket }.map { kind in
      let failure = SSHFailure(code: 0, message: "")
      return ConnectionError(
        AppError(failure, as: kind),
        context: FailureContext(kind: kind, phase: .stream, host: ""))
    }
    + webSocketObservations.map {
      WebSocketFailure(observation: $0, phase: .upgrade, host: "host.example").typed
    }

  private static let webSocketObservations: [WebSocketFailure.Observation] =
    [
      .nameUnknown, .nameTimeout, .offline, .dial(errno: ECONNREFUSED), .dial(errno: EHOSTUNREACH),
      .dial(errno: EMFILE),
      .deadline, .notWebSocket(seen: "", location: nil), .notProxy(seen: "", location: nil),
      .dropped, .unexplained, .overLimit(.header, limit: 1), .overLimit(.message, limit: 1),
      .pingTimeout,
      .invalidMessage(detail: ""), .internalFault(detail: ""), .cancelled,
    ] + FailureKind.TLSCause.allCases.map { .tls($0) }
    + [400, 401, 403, 404, 407, 408, 409, 429, 500, 503].map {
      .refusedUpgrade(status: $0, retryAfter: nil, message: nil, location: nil)
    }
    + [403, 407, 429, 502].map {
      .refusedTunnel(status: $0, reason: "", retryAfter: nil, sentCredentials: false)
    } + [nil, 1000, 1001, 1002, 1003, 1011, 4000].map { .closed(code: $0, reason: "") }
}
