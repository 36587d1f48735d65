/// What a reader of the approvals sees.
public enum ApprovalEvent: Sendable, Hashable {
  /// A record is new, is another than before, or is gone.
  case changed(ApprovalChange)
  /// The reader was slow and lost so many changes that stood here: `Approvals.records` has what
  /// became of them.
  case missed(count: Int)
}
