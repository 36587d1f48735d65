/// How a remote command ended, as the server reported it (RFC 4254, 6.10).
public enum ExitStatus: Sendable, Equatable {
  /// It exited with this status.
  case status(Int)
  /// A signal ended it; the name is without `SIG`, as the server wrote it.
  case signal(String)

  /// As words in a sentence: "exit status 3", "signal TERM". A signal's name is the server's: raw.
  package var words: String {
    switch self {
    case .status(let status): "exit status \(status)"
    case .signal(let name): "signal \(name)"
    }
  }

  /// Whether it exited with status 0.
  public var isSuccess: Bool { self == .status(0) }
}
