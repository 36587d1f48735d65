public import BridgeErrors
public import BridgeSession
public import BridgeTerminalState
import BridgeSessionProtocol
import BridgeWaiting

/// What the terminal of an agent shows, for a person who looks on. The agent, and who carries it,
/// do not notice.
///
///     let screen = AgentScreen(of: session, on: machine)
///     // In one task:
///     try await screen.follow()
///     // In another one:
///     while true {
///       let version = screen.version
///       let (terminal, standing) = screen.current
///       draw((0..<terminal.rows).map(terminal.runs), standing)
///       try await screen.change(after: version)
///     }
///
/// It is a viewer of the session over a channel of its own. A terminal has the screen of now from
/// the first moment on; a program on pipes has the end of what it printed, on 40 rows of 120
/// columns.
public final class AgentScreen: Sendable {
  /// How current the screen is.
  public enum Standing: Sendable, Hashable {
    /// The session has not answered yet.
    case opening
    /// It is followed.
    case live
    /// The link is lost: it is how it was then.
    case interrupted
  }

  private struct State {
    var terminal = TerminalScreen(rows: 24, columns: 80, history: 0)
    var standing = Standing.opening
  }

  private let session: DurableSession
  private let machine: RemoteMachine
  private let changes = Changes()
  private let state = Mutex(State())
  /// Of the output of a program on pipes, in bytes: some rows.
  private static let tail: UInt64 = 32 << 10
  private static let batch = 64 << 10

  /// The screen of a session that another client has attached to.
  ///
  /// - Parameter machine: where the session is.
  public init(of session: DurableSession, on machine: RemoteMachine) {
    (self.session, self.machine) = (session, machine)
  }

  /// Follows the session until it is over, or the task is canceled.
  ///
  /// - Throws: why the session cannot be seen; `cancelled`.
  public func follow() async throws(AppError) {
    let viewer = machine.session(try await session.viewing(as: ClientID.random(), tail: Self.tail))
    let result = await withTaskGroup(of: Result<Void, AppError>?.self) { group in
      group.addTask {
        for await event in viewer.events { self.take(event) }
        return nil
      }
      group.addTask { await Result { () async throws(AppError) in try await self.read(viewer) } }
      while let result = await group.next() {
        guard let result else { continue }
        group.cancelAll()
        return result
      }
      return .failure(.cancelled)
    }
    await viewer.detach()
    try result.get()
  }

  /// Counts the changes.
  public var version: Int { changes.version }

  /// Returns once there was a change after `version`.
  ///
  /// - Throws: `cancelled` when the task is canceled.
  public func change(after version: Int) async throws(AppError) {
    try await changes.wait(after: version)
  }

  /// What is to be seen now.
  public var current: (terminal: TerminalScreen, standing: Standing) {
    state.withLock { ($0.terminal, $0.standing) }
  }

  private func read(_ viewer: DurableSession) async throws(AppError) {
    let welcome = try await viewer.attach()
    if welcome.kind == .pipes {
      change {
        $0.terminal = TerminalScreen(rows: 40, columns: 120, history: 0)
        // Lines end without a carriage return.
        $0.terminal.track(Array("\u{1B}[20h".utf8))
      }
    }
    let output = viewer.output.makeAsyncIterator()
    while let chunks = try await output.next(upTo: Self.batch) {
      change { for chunk in chunks { $0.terminal.take(chunk) } }
    }
  }

  private func take(_ event: DurableSession.Event) {
    switch event {
    case .attached: change { $0.standing = .live }
    case .suspended, .refused: change { $0.standing = .interrupted }
    case .inputDropped, .notice: break
    }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    changes.announce()
  }
}

extension CarriedSession {
  /// What the agent's terminal shows.
  public var screen: AgentScreen { AgentScreen(of: session, on: machine) }
}

extension TerminalScreen {
  fileprivate mutating func take(_ chunk: SessionChunk) {
    switch chunk.content {
    case .bytes(let bytes, _), .screen(let bytes, live: _): track(bytes)
    case .size(let size): resize(rows: Int(size.rows), columns: Int(size.columns))
    case .omitted(to: _, screen: let drawing):
      self = TerminalScreen(rows: rows, columns: columns, history: 0)
      track(drawing)
    case .gap: break
    }
  }
}
