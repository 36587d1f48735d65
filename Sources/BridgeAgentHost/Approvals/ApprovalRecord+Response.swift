import FoundationEssentials

extension ApprovalRecord {
  /// The JSON-RPC response that the agent must receive, with its newline; nil where it receives
  /// none.
  ///
  /// The id is the agent's, byte for byte (JSON-RPC 2.0, 5).
  public var responseLine: [UInt8]? {
    switch state {
    case .decided(let decision): request.line(result(of: decision))
    case .canceled(_, reply: .result(let result)): request.line("\"result\":\(result)")
    case .canceled(_, reply: .error(let code, let message)):
      request.line(ApprovalRequest.member(error: code, message))
    case .pending, .delivered, .canceled(_, reply: nil): nil
    }
  }

  private func result(of decision: ApprovalDecision) -> String {
    let result = request.options.first { $0.id == decision.option }?.result ?? "null"
    guard request.form?.option == decision.option else { return "\"result\":\(result)" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let values = (try? encoder.encode(decision.values)).map { String(decoding: $0, as: UTF8.self) }
    // The values are one more member of the option's result.
    let members = (try? JSONText.members(of: Array(result.utf8)[...])) ?? []
    let others = members.map { member in
      "\(JSONText.quoted(member.name)):\(String(decoding: member.value, as: UTF8.self)),"
    }
    return "\"result\":{\(others.joined())\"content\":\(values ?? "{}")}"
  }
}

extension ApprovalRequest {
  /// The JSON-RPC error that an agent receives for a request that could not be taken, with its
  /// newline: code -32603, internal error (JSON-RPC 2.0, 5.1).
  public func refusalLine(_ message: String) -> [UInt8] {
    line(Self.member(error: -32603, message))
  }

  static func member(error code: Int, _ message: String) -> String {
    "\"error\":{\"code\":\(code),\"message\":\(JSONText.quoted(message))}"
  }

  /// A response with this member.
  func line(_ member: String) -> [UInt8] {
    Self.line(member, wireID: wireID, hasVersion: hasVersion)
  }

  static func line(_ member: String, wireID: String, hasVersion: Bool) -> [UInt8] {
    let version = hasVersion ? "\"jsonrpc\":\"2.0\"," : ""
    return Array("{\(version)\"id\":\(wireID),\(member)}\n".utf8)
  }
}
