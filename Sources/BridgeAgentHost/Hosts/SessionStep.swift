import BridgeErrors
import BridgeSessionProtocol
import BridgeStore

/// What a host does first about the session of an agent, by what the store has of that.
enum SessionStep: Sendable, Equatable {
  /// Nothing is stored: this id is, and then the session is started.
  case store(SessionID)
  /// The session may have been started: an application was killed meanwhile. It is started unless
  /// it was.
  case start(SessionID)
  /// The session was started and is not again, also where its host does not know it any more.
  case goOn(SessionID, after: LinePoint)

  /// - Parameters:
  ///   - state: what the store has.
  ///   - machine: where the agent is to run.
  ///   - new: the id of the session where the agent has none.
  /// - Throws: `validationError` where it runs on another machine; `decodingError` where another
  ///   program has written the state.
  init(_ state: AgentState, on machine: String, new: SessionID) throws(AppError) {
    guard let stored = state.session else {
      self = .store(new)
      return
    }
    guard stored.machine == machine else {
      throw .validationError(
        field: "machine", message: "The agent's session is on \(stored.machine), not on \(machine)."
      )
    }
    guard let session = SessionID(text: stored.session) else {
      throw .decodingError(type: "SessionID", detail: "The stored id of the session is none.")
    }
    guard let resume = stored.resume else {
      self = .start(session)
      return
    }
    self = .goOn(session, after: try resume.decoded(as: LinePoint.self))
  }
}
