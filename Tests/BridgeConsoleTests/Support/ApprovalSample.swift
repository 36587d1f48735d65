import BridgeAgentHost
import BridgeErrors

/// Questions for tests.
enum ApprovalSample {
  static func approvals() -> Approvals { Approvals { _ in } }

  static func request(
    of agent: String, _ wireID: String = "1", asking title: String = "Run make?",
    form: ApprovalForm? = nil
  ) -> ApprovalRequest {
    ApprovalRequest(
      agent: agent, wireID: wireID, method: "ask", title: title,
      options: [
        ApprovalOption(id: "yes", name: "Allow", kind: .allowOnce, result: #"{"d":"yes"}"#),
        ApprovalOption(id: "no", name: "Refuse", kind: .rejectOnce, result: #"{"d":"no"}"#),
      ], form: form)
  }
}
