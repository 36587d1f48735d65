public import BridgeErrors
import BridgeSessionProtocol

extension ApprovalAdapter {
  /// Takes what a line says about approvals to where they are kept.
  ///
  /// - Returns: the record of a question, which is stored; nil where the line asks none: pass it
  ///   on.
  /// - Throws: as `Approvals.request`: a line that is read again is the same question.
  public func take(
    _ line: SessionLine, to approvals: Approvals
  ) async throws(AppError) -> ApprovalRecord? {
    guard case .line(let bytes, .standardOutput) = line.content else { return nil }
    switch read(bytes, endingAt: line.end) {
    case .request(let request): return try await approvals.request(request)
    case .cancellation(let id, let reply):
      try await approvals.cancel(agent: agent, wireID: id, reply: reply)
    case .resolution(let id): try await approvals.resolve(agent: agent, wireID: id)
    case .other, .invalid: break
    }
    return nil
  }
}
