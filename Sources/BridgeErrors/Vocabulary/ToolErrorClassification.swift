/// Why a tool of an agent failed, in four words (S1-141, G-08).
public enum ToolErrorClassification: String, Sendable, CaseIterable {
  /// A person or a policy did not allow it.
  case permission
  /// The network or the peer failed.
  case network
  /// What came could not be read.
  case parse
  /// Anything else.
  case unknown

  /// The class of an error, from its row of the catalogue.
  public init(_ error: AppError) {
    self = error.row.tool
  }
}

extension AppError {
  /// The error of a tool that failed for a known class of reason (G-08).
  public init(toolFailure: ToolErrorClassification, tool: String, detail: String) {
    switch toolFailure {
    case .permission: self = .permissionDenied(tool: tool)
    case .network: self = .networkUnavailable
    case .parse: self = .decodingError(type: tool, detail: detail)
    case .unknown: self = .agentExecutionError(message: detail)
    }
  }
}
