/// An approval as a store has it: what it says is the application's.
public struct StoredApproval: Sendable, Hashable {
  /// Its id, within its agent.
  public var id: String
  /// What it is waiting for, or what became of it: a word of the application's.
  public var state: String
  /// The approval.
  public var record: StoredValue

  /// An approval.
  public init(id: String, state: String, record: StoredValue) {
    self.id = id
    self.state = state
    self.record = record
  }
}
