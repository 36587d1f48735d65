import BridgeErrors

/// Finds the questions among the lines of an agent, and makes requests of them whose
/// `ApprovalRecord.responseLine` is the answer in the agent's protocol.
///
/// It keeps nothing: a line that is read again is the same request. A batch (an array of messages,
/// JSON-RPC 2.0, 6) is passed on; none of the three protocols has them.
public struct ApprovalAdapter: Sendable, Hashable {
  /// The name of the agent, which its requests bear.
  public var agent: String
  /// Its protocol.
  public var dialect: ApprovalDialect

  /// An adapter.
  public init(agent: String, dialect: ApprovalDialect) {
    self.agent = agent
    self.dialect = dialect
  }

  /// Reads a line of the agent's output, with or without its newline.
  ///
  /// - Parameter offset: the end of the line in the agent's output (`SessionLine.end`); nil where
  ///   that is unknown.
  public func read(_ line: [UInt8], endingAt offset: UInt64? = nil) -> ApprovalReading {
    guard let message = message(in: line) else { return .other }
    do throws(Problem) {
      return try read(try message.get(), offset)
    } catch {
      return .invalid(error.error, response: error.response)
    }
  }

  /// The part of the agent that the application ends with a line of its own, and the answer that
  /// the agent must then receive to each open request of that part: to `Approvals.cancelAll`. Nil
  /// for all other lines.
  ///
  /// ACP requires that a client that sends `session/cancel` answers all open requests of the
  /// session with the outcome `cancelled` (schema/v1/schema.json, RequestPermissionOutcome).
  public func cancellation(
    byInput line: [UInt8]
  ) -> (scope: String, reply: ApprovalReply)? {
    guard dialect == .acp, case .success(let message) = message(in: line),
      message.method == "session/cancel",
      let session = try? message.decode(ACPCancel.self)
    else { return nil }
    return (session.sessionId, .result(#"{"outcome":{"outcome":"cancelled"}}"#))
  }

  private struct ACPCancel: Decodable { var sessionId: String }

  // MARK: Messages

  /// Why a message cannot be taken.
  struct Problem: Error {
    var type: String
    var detail: String
    var response: [UInt8]?

    var error: AppError { .decodingError(type: type, detail: detail) }
  }

  /// The message with a method in a line; nil where there is none.
  private func message(in line: [UInt8]) -> Result<ApprovalMessage, Problem>? {
    guard line.first(where: { ![0x20, 0x09, 0x0D].contains($0) }) == UInt8(ascii: "{") else {
      return nil
    }
    do throws(JSONText.Malformed) {
      return try ApprovalMessage(of: JSONText.members(of: line[...])).map { .success($0) }
    } catch {
      return .failure(Problem(type: "JSON-RPC", detail: "The line is no JSON at \(error.offset)."))
    }
  }

  private func read(_ message: ApprovalMessage, _ offset: UInt64?) throws(Problem)
    -> ApprovalReading
  {
    switch (dialect, message.method) {
    case (.acp, "session/request_permission"):
      return .request(try request(message, offset) { try $0.acp() })
    case (.acp, "$/cancel_request"):
      // "MUST send […] an error response with code -32800" (docs/protocol/v1/cancellation.mdx).
      return .cancellation(
        wireID: try message.canceledID(), reply: .error(code: -32800, message: "Canceled"))
    case (.mcp, "elicitation/create"):
      return .request(try request(message, offset) { try $0.mcp() })
    case (.mcp, "notifications/cancelled"):
      return .cancellation(wireID: try message.canceledID(), reply: nil)
    case (.codex, "serverRequest/resolved"):
      return .resolution(wireID: try message.canceledID())
    case (.codex, let method):
      guard let read = ApprovalMessage.codex[method] else { return .other }
      return .request(try request(message, offset, read))
    case (.acp, _), (.mcp, _): return .other
    }
  }

  private func request(
    _ message: ApprovalMessage, _ offset: UInt64?,
    _ read: (ApprovalMessage) throws -> ApprovalMessage.Question
  ) throws(Problem) -> ApprovalRequest {
    let wireID = try message.requestID()
    do {
      let question = try read(message)
      guard let parameters = String(validating: message.parameters ?? [], as: UTF8.self) else {
        throw ApprovalMessage.Unreadable(detail: "params: not UTF-8")
      }
      return ApprovalRequest(
        agent: agent, wireID: wireID, hasVersion: message.hasVersion, method: message.method,
        scope: question.scope, title: question.title, options: question.options,
        form: question.form, parameters: parameters, outputOffset: offset)
    } catch {
      let detail = ApprovalMessage.words(of: error)
      // -32602 is "Invalid params" (JSON-RPC 2.0, 5.1).
      let response = ApprovalRequest.line(
        ApprovalRequest.member(error: -32602, detail), wireID: wireID,
        hasVersion: message.hasVersion)
      throw Problem(type: message.method, detail: detail, response: response)
    }
  }
}
