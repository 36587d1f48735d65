public import FoundationEssentials

/// A request and what became of it, as a store keeps it.
public struct ApprovalRecord: Sendable, Hashable, Codable, Identifiable {
  /// What became of a request.
  public enum State: Sendable, Hashable, Codable {
    /// It waits for a person.
    case pending
    /// It is decided, and the agent is not known to have the answer.
    case decided(ApprovalDecision)
    /// It is decided, and the agent has the answer.
    case delivered(ApprovalDecision)
    /// It takes no answer. The agent must still receive `reply`, where there is one.
    case canceled(ApprovalCancellation, reply: ApprovalReply?)
  }

  /// Its name on all links.
  public var id: ApprovalID
  /// The question.
  public var request: ApprovalRequest
  /// When it came.
  public var at: Date
  /// What became of it.
  public var state: State
  /// Where its answer begins in the agent's input, in bytes, once that was reserved. A session
  /// that is written to at this offset takes the answer once, also from another run of the
  /// application.
  public var inputOffset: UInt64?

  /// A record.
  public init(
    id: ApprovalID, request: ApprovalRequest, at: Date, state: State = .pending,
    inputOffset: UInt64? = nil
  ) {
    self.id = id
    self.request = request
    self.at = at
    self.state = state
    self.inputOffset = inputOffset
  }

  /// The decision, whether or not the agent has it.
  public var decision: ApprovalDecision? {
    switch state {
    case .decided(let decision), .delivered(let decision): decision
    case .pending, .canceled: nil
    }
  }

  /// Whether the agent must still receive an answer.
  public var awaitsDelivery: Bool {
    switch state {
    case .decided, .canceled(_, reply: .some): true
    case .pending, .delivered, .canceled(_, reply: nil): false
    }
  }

  /// Whether it is pending or awaits its delivery.
  var isOpen: Bool { state == .pending || awaitsDelivery }
}
