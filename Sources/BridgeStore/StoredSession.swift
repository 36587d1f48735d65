/// Where an agent runs.
public struct StoredSession: Sendable, Hashable {
  /// The machine, by the application's name for it.
  public var machine: String
  /// The id of its durable session.
  public var session: String
  /// Where its output is read on after a restart; nil for the beginning.
  public var resume: StoredValue?

  /// A session on a machine.
  public init(machine: String, session: String, resume: StoredValue? = nil) {
    self.machine = machine
    self.session = session
    self.resume = resume
  }
}
