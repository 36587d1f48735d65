/// A change to what is kept of an agent; made twice it is the same as once.
public enum StoreChange: Sendable, Hashable {
  /// Keeps where the agent runs, in the place of what was known.
  case session(StoredSession)
  /// Keeps where its output is read on after a restart; nothing where no session was written.
  case resume(StoredValue)
  /// Keeps how far an effect of its output has come: the point that goes with it.
  case commit(effect: String, point: StoredValue)
  /// Puts a message behind the others of the agent; nothing where one with its id is among them.
  case send(OutboxMessage)
  /// Removes the message with this id, which has arrived.
  case delivered(id: String)
  /// Keeps an approval, in the place of one with its id.
  case approval(StoredApproval)
  /// Removes the approval with this id.
  case removeApproval(id: String)
  /// The agent is over: no host takes it any more, and what is kept of it stays. Its lease ends.
  case close
  /// Removes all that is kept of the agent, its lease included.
  case removeAgent
}
