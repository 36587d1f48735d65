public import BridgeAgentHost
public import BridgeErrors
public import BridgeStore
public import BridgeSupervision
import BridgeRecovery
import BridgeSession
import BridgeWaiting
public import FoundationEssentials

/// The page of an agent host: its links and agents, errors that wait for a person, approvals, and
/// outages, in any browser, always the state of now.
///
///     let token = ConsoleToken(name: "ada", access: .write)
///     let console = try Console(
///       ConsoleConfiguration(port: 8080, tokens: [token]), of: host, keptIn: store)
///     console.show(supervisor)
///     console.show(hostKeys)
///     // The work of an agent:
///     console.show(approvals, of: agent.name)
///     console.show(session)
///     // First in the group, so that the page also shows how the rest shuts down:
///     let services: [any Service] = [ConsoleService(console), SupervisorService(supervisor), …]
///
/// It serves on loopback only, unless it has a certificate. Before a login it gives the empty page
/// away, and whether the host is well.
public final class Console: Sendable {
  /// A supervisor, whatever its clock.
  struct Supervised: Sendable {
    var events: any AsyncSequence<RecoveryEvent, Never> & Sendable
    var presented: @Sendable () async -> PresentedErrors
    var overview: @Sendable () async -> [LinkOverview]
    var choose: @Sendable (ErrorRecoveryOption.Kind, PresentedError.ID) async -> Bool
  }

  struct Questions: Sendable {
    weak var approvals: Approvals?
  }

  /// An agent's session, for as long as its work has it.
  private struct Watchable {
    weak var session: DurableSession?
    var machine: RemoteMachine
  }

  private struct State {
    var supervised: [Supervised] = []
    var hostKeys: HostKeyQuestions?
    /// By the names of agents as they are shown.
    var watchable: [String: Watchable] = [:]
    var questions: [String: Questions] = [:]
    /// Agents whose questions are to be followed.
    var toFollow: [(agent: String, approvals: Questions)] = []
    var rules: RequestRules?
    var port: Int?
  }

  let configuration: ConsoleConfiguration
  let host: AgentHost
  let store: any AgentStore
  let board: Board
  let sessions: Sessions
  let now: @Sendable () -> Date
  /// Reasons to look for approvals that are to be followed.
  let arrivals = Changes()
  private let state = Mutex(State())

  /// A page that shows this host, once a `ConsoleService` runs.
  ///
  /// - Parameters:
  ///   - store: where its outages are kept.
  ///   - now: the date now.
  /// - Throws: `validationError` for a configuration that would expose the page.
  public convenience init(
    _ configuration: ConsoleConfiguration, of host: AgentHost, keptIn store: any AgentStore,
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws(AppError) {
    try self.init(configuration, of: host, keptIn: store, now: now) { ContinuousClock.now }
  }

  /// Likewise.
  ///
  /// - Parameter instant: the instant now, for what is limited in time.
  init(
    _ configuration: ConsoleConfiguration, of host: AgentHost, keptIn store: any AgentStore,
    now: @escaping @Sendable () -> Date = { Date() },
    instant: @escaping @Sendable () -> ContinuousClock.Instant
  ) throws(AppError) {
    try configuration.verify()
    self.configuration = configuration
    self.host = host
    self.store = store
    self.now = now
    board = Board(configuration.limits)
    sessions = Sessions(configuration.tokens, configuration.limits, now: instant)
  }

  /// Shows the links of a supervisor, and what it has a person decide; before the service runs.
  public func show<C: Clock>(_ supervisor: Supervisor<C>) where C.Duration == Duration {
    let supervised = Supervised(
      events: supervisor.events(), presented: { await supervisor.presented() },
      overview: { await supervisor.overview() },
      choose: { kind, id in await supervisor.choose(kind, for: id) })
    state.withLock { $0.supervised.append(supervised) }
  }

  /// Has people decide about the host keys of machines; before the service runs.
  public func show(_ hostKeys: HostKeyQuestions) { state.withLock { $0.hostKeys = hostKeys } }

  /// Shows the questions of an agent, in the place of those that it had before, for as long as
  /// there are these approvals: the page does not keep them.
  public func show(_ approvals: Approvals, of agent: String) {
    let questions = Questions(approvals: approvals)
    state.withLock { state in
      state.questions[agent] = questions
      state.toFollow.removeAll { $0.agent == agent }
      state.toFollow.append((agent, questions))
    }
    arrivals.announce()
  }

  /// Shows the screen of an agent where that is asked for, in the place of the one that it had
  /// before, for as long as its work has this session.
  public func show(_ session: CarriedSession) {
    let name = session.agent.name.shown
    state.withLock { state in
      state.watchable = state.watchable.filter { $1.session != nil }
      state.watchable[name] = Watchable(session: session.session, machine: session.machine)
    }
    board.show(screenOf: name)
  }

  /// Makes a token open nothing any more, and ends all that it has opened.
  public func revoke(tokenNamed name: String) {
    sessions.revoke(name)
    board.changes.announce()
  }

  /// The port that it is served on; nil while it is not.
  public var port: Int? { state.withLock { $0.port } }

  /// The address that opens the page, with the token in its fragment, which no browser sends; nil
  /// while the page is not served. It is as secret as the token.
  public func address(for token: ConsoleToken) -> String? {
    guard let port else { return nil }
    let origin =
      configuration.origins.first
      ?? "\(configuration.tls == nil ? "http" : "https")://localhost:\(port)"
    return token.secret.reveal { "\(origin)/#\(String(decoding: $0, as: UTF8.self))" }
  }

  // MARK: For its service

  var supervised: [Supervised] { state.withLock { $0.supervised } }
  var hostKeys: HostKeyQuestions? { state.withLock { $0.hostKeys } }
  var rules: RequestRules? { state.withLock { $0.rules } }

  /// The port is known now.
  func serve(on port: Int) {
    let rules = RequestRules(
      address: configuration.address, port: port, isEncrypted: configuration.tls != nil,
      besides: configuration.origins)
    state.withLock { ($0.port, $0.rules) = (port, rules) }
  }

  func approvals(of agent: String) -> Approvals? {
    state.withLock { $0.questions[agent]?.approvals }
  }

  /// The screen of an agent, by its name as it is shown; nil where there is none.
  func screen(of agent: String) -> AgentScreen? {
    state.withLock { state in
      guard let watchable = state.watchable[agent], let session = watchable.session else {
        return nil
      }
      return AgentScreen(of: session, on: watchable.machine)
    }
  }

  /// Takes an agent whose questions are to be followed.
  func nextToFollow() -> (agent: String, approvals: Questions)? {
    state.withLock { $0.toFollow.isEmpty ? nil : $0.toFollow.removeFirst() }
  }

  /// The approvals of an agent are gone, unless there are others now; whether that is so.
  func forget(_ agent: String) -> Bool {
    state.withLock { state in
      guard state.questions[agent]?.approvals == nil else { return false }
      state.questions[agent] = nil
      return true
    }
  }
}
