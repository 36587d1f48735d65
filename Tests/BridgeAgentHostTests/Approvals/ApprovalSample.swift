import BridgeAgentHost
import Foundation

/// Requests for tests.
enum ApprovalSample {
  static let options = [
    ApprovalOption(id: "yes", name: "Allow", kind: .allowOnce, result: #"{"d":"yes"}"#),
    ApprovalOption(id: "no", name: "Refuse", kind: .rejectOnce, result: #"{"d":"no"}"#),
  ]

  static func request(
    _ wireID: String = "1", of agent: String = "a", asking title: String = "Run ls?",
    at offset: UInt64? = nil, form: ApprovalForm? = nil, parameters: String? = nil
  ) -> ApprovalRequest {
    ApprovalRequest(
      agent: agent, wireID: wireID, method: "ask", scope: "s", title: title, options: options,
      form: form, parameters: parameters ?? "{\"title\":\"\(title)\"}", outputOffset: offset)
  }

  static func time(_ seconds: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(seconds)) }
}
