public import BridgeErrors
public import BridgeSession
public import BridgeSessionProtocol
import BridgeStore
import BridgeWaiting

// The durable session of an agent.
extension CarriedAgent {
  /// Under which name the store has how the program ended.
  private static let endEffect = "session.end"

  /// Its session on a machine: the one that the store names, or a new one, whose id is in the store
  /// before it is started. So any host that carries the agent attaches to the same session, as the
  /// same client, and the program is started once. Its output goes on behind what had arrived.
  ///
  /// - Parameters:
  ///   - machine: where it runs; the same in each call.
  ///   - command: for the user's shell there; the same in each call. nil for a login shell.
  ///   - change: changes what is attached to, and what is started, but for the ids.
  /// - Throws: as `write`; `validationError` where the session is on another machine;
  ///   `decodingError` where another program has written the state.
  public func session(
    on machine: RemoteMachine, running command: String?,
    _ change: (inout DurableSession.Configuration) -> Void = { _ in }
  ) async throws(AppError) -> CarriedSession {
    let id: SessionID
    var point: LinePoint?
    switch try SessionStep(state, on: machine.name, new: SessionID.random()) {
    case .store(let new):
      try await write(.session(StoredSession(machine: machine.name, session: "\(new)")))
      id = new
    case .start(let known): id = known
    case .goOn(let known, let after): (id, point) = (known, after)
    }
    var spec = SessionSpec(session: id)
    spec.command = command.map { Array($0.utf8) }
    spec.name = Array(name.utf8.prefix(SessionSpec.longestName))
    // One client for all hosts: the keeper of the session lets the one with the latest lease write.
    var configuration = DurableSession.Configuration(host: machine.name, starting: spec, client: id)
    change(&configuration)
    configuration.attachment.fence = UInt64(clamping: lease.fence)
    configuration.resume = point?.output
    if point != nil { configuration.start = nil }
    let session = machine.session(configuration) { open throws(AppError) in
      try await opening(to: machine.name, open)
    }
    return CarriedSession(agent: self, machine: machine, session: session, start: point)
  }

  /// How its program ended, and all its output had arrived; nil where that is not known to the
  /// store.
  ///
  /// - Throws: `decodingError` where another program has written it.
  public func end() throws(AppError) -> ProgramEnd? {
    guard let value = state.commits[Self.endEffect] else { return nil }
    return try value.decoded(as: ProgramEnd.self)
  }

  /// Stores how its program ended.
  func keep(_ end: ProgramEnd) async throws(AppError) {
    try await write(.commit(effect: Self.endEffect, point: try StoredValue(encoding: end)))
  }

  /// Does nothing for as long as this host carries the agent. Where work returns without that or
  /// `close`, what the store has of its agent is removed.
  ///
  /// - Throws: `cancelled`.
  public func rest() async throws(AppError) -> Never {
    await Latch().wait()
    throw .cancelled
  }
}
