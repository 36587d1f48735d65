/// A change that a store keeps; those that are handed over together are kept together or not at
/// all.
public enum ApprovalChange: Sendable, Hashable, Codable {
  /// The record is this one from now on.
  case put(ApprovalRecord)
  /// The record is not kept any more.
  case remove(ApprovalID)
}
