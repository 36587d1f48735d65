public import BridgeErrors

/// What a line of an agent is for the approvals.
public enum ApprovalReading: Sendable, Hashable {
  /// None of theirs: the application passes it on as it is, byte for byte.
  case other
  /// A question for a person: to `Approvals.request`, and not to the application.
  case request(ApprovalRequest)
  /// The agent asks no longer under this id: to `Approvals.cancel`. The id may be of a request
  /// that is no approval, then the line is passed on.
  case cancellation(wireID: String, reply: ApprovalReply?)
  /// The agent has the answer under this id, or needs none: to `Approvals.resolve`; else as
  /// `cancellation`.
  case resolution(wireID: String)
  /// A line that is no JSON, or a question that cannot be answered as it is: the agent must
  /// receive `response`, where there is one.
  case invalid(AppError, response: [UInt8]?)
}
