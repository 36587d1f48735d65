/// Which thread may call a connection's session: the reactor's, or one helper thread.
package enum SessionOwner<Session, Evidence> {
  /// There is no session: none was made yet, or it is released. Can become loop.
  case none
  /// The reactor's thread calls it. Can become helper, none.
  case loop(Session, Help)
  /// A helper thread calls it, and no other code may touch it; with what was known of it when the
  /// thread took it. Can become loop.
  case helper(Session, Evidence)

  /// Whether the helper thread is the next to call the session, for an operation that may block.
  package enum Help: Sendable {
    /// It is the operation's first turn, or bytes came since its last. Can become waiting.
    case due
    /// Nothing has come since its last turn. Can become due.
    case waiting
  }

  /// The session where the reactor's thread may call it.
  package var session: Session? {
    if case .loop(let session, _) = self { session } else { nil }
  }

  /// The session, also while a helper thread calls it.
  package var held: Session? {
    switch self {
    case .none: nil
    case .loop(let session, _), .helper(let session, _): session
    }
  }

  /// What was known of the session when a helper thread took it; nil where none has it.
  package var evidence: Evidence? {
    if case .helper(_, let evidence) = self { evidence } else { nil }
  }

  /// Takes the one session of a connection.
  package mutating func begin(_ session: Session) {
    guard case .none = self else { return }
    self = .loop(session, .due)
  }

  /// Bytes came, or may be read now: an operation on a helper thread may go on.
  package mutating func resumeHelp() { setHelp(.due) }

  /// An operation had its turn on a helper thread and needs bytes that have not come.
  package mutating func awaitBytes() { setHelp(.waiting) }

  /// Hands the session to a helper thread and returns it; nil where there is nothing to do for one.
  package mutating func handToHelper(_ evidence: (Session) -> Evidence) -> Session? {
    guard case .loop(let session, .due) = self else { return nil }
    self = .helper(session, evidence(session))
    return session
  }

  /// The helper thread has ended: the operation that it ran may go on at once.
  package mutating func takeBack() {
    guard case .helper(let session, _) = self else { return }
    self = .loop(session, .due)
  }

  /// Gives the session up and returns it; nil while a helper thread has it.
  package mutating func release() -> Session? {
    guard case .loop(let session, _) = self else { return nil }
    self = .none
    return session
  }

  private mutating func setHelp(_ help: Help) {
    guard case .loop(let session, _) = self else { return }
    self = .loop(session, help)
  }
}

extension SessionOwner: Sendable where Session: Sendable, Evidence: Sendable {}
extension SessionOwner: Equatable where Session: Equatable, Evidence: Equatable {}
