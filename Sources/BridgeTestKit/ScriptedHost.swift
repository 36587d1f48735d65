public import BridgeErrors
public import BridgeTransport
import BridgeWaiting

/// A host that answers dials by a script, and counts them.
public final class ScriptedHost: Sendable {
  /// What happens to a dial.
  public enum Answer: Sendable, Hashable, CaseIterable {
    /// Accepts the connection.
    case accept
    /// Refuses the port.
    case refuse
    /// The link ends during key exchange.
    case drop
    /// Nothing comes back until the dial's deadline.
    case hang
    /// Too busy.
    case throttle
    /// The name does not exist.
    case unknownName
    /// Rejects the credentials.
    case rejectCredentials
    /// Shows another host key.
    case changeHostKey
    /// The first bytes are garbage.
    case corrupt
  }

  /// What was done to the host so far.
  public struct Tally: Sendable, Equatable {
    /// Dials begun.
    public var dials = 0
    /// Dials that are neither answered nor given up.
    public var unauthenticated = 0
    /// The most there were of them at once.
    public var mostUnauthenticated = 0
    /// Connections whose descriptor is not closed yet.
    public var open = 0
    /// The most there were at once of each connection: 2 while a second is made ready.
    public var mostOpen: [ConnectionID: Int] = [:]
    /// Generations that were dialed more than once.
    public var doubleStarts = 0
  }

  private struct State {
    var answer: Answer
    var nextAnswer: Answer?
    var latency: Duration
    var questionTime = Duration.zero
    var tally = Tally()
    var started: Set<String> = []
    var openByID: [ConnectionID: Int] = [:]
    var connections: [ScriptedConnection] = []
    var isFrozen = false
  }

  /// Where it is.
  public let endpoint: Endpoint
  /// The clock its delays are on.
  public let clock: ManualClock
  private let state: Mutex<State>

  /// A host that accepts, each dial in `latency`.
  public init(
    _ endpoint: Endpoint = Endpoint(host: "host", port: 22), clock: ManualClock,
    answer: Answer = .accept, latency: Duration = .milliseconds(5)
  ) {
    self.endpoint = endpoint
    self.clock = clock
    state = Mutex(State(answer: answer, latency: latency))
  }

  /// What happens to dials that are answered from now on.
  public var answer: Answer {
    get { state.withLock { $0.answer } }
    set { state.withLock { $0.answer = newValue } }
  }

  /// What happens to the next dial that is answered, and to no other.
  public func answerNext(_ answer: Answer) {
    state.withLock { $0.nextAnswer = answer }
  }

  /// How long a dial takes.
  public var latency: Duration {
    get { state.withLock { $0.latency } }
    set { state.withLock { $0.latency = newValue } }
  }

  /// How long the person whom a dial asks takes to answer, beside its latency; zero where nothing
  /// is asked.
  public var questionTime: Duration {
    get { state.withLock { $0.questionTime } }
    set { state.withLock { $0.questionTime = newValue } }
  }

  /// What was done to it so far.
  public var tally: Tally { state.withLock { $0.tally } }

  /// A connection to it, not dialed yet, that takes `teardown` to close.
  public func connection(
    _ id: ConnectionID, _ generation: Int, teardown: Duration = .milliseconds(2)
  ) -> ScriptedConnection {
    let connection = ScriptedConnection(
      id: id, generation: generation, host: self, teardown: teardown)
    state.withLock { $0.connections.append(connection) }
    return connection
  }

  /// Connections that were made and not closed.
  public var connections: [ScriptedConnection] { state.withLock { $0.connections } }

  /// The links of all that are connected end as if their packets were answered with a reset.
  public func cut() async {
    for connection in connections { await connection.lose() }
  }

  /// Nothing is answered and nothing arrives until `thaw`.
  public func freeze() {
    state.withLock { $0.isFrozen = true }
  }

  /// What was held up arrives.
  public func thaw() async {
    state.withLock { $0.isFrozen = false }
    for connection in connections { await connection.hear() }
  }

  /// The answer to one dial.
  func takeAnswer() -> Answer {
    state.withLock { state in
      defer { state.nextAnswer = nil }
      return state.nextAnswer ?? state.answer
    }
  }

  var isFrozen: Bool { state.withLock { $0.isFrozen } }

  func began(_ id: ConnectionID, _ generation: Int) {
    state.withLock { state in
      state.openByID[id, default: 0] += 1
      state.tally.mostOpen[id] = max(state.tally.mostOpen[id] ?? 0, state.openByID[id] ?? 0)
      state.tally.dials += 1
      state.tally.unauthenticated += 1
      state.tally.mostUnauthenticated = max(
        state.tally.mostUnauthenticated, state.tally.unauthenticated)
      state.tally.open += 1
      if !state.started.insert("\(id)#\(generation)").inserted { state.tally.doubleStarts += 1 }
    }
  }

  func settled() {
    state.withLock { $0.tally.unauthenticated -= 1 }
  }

  func closed(_ connection: ScriptedConnection, wasOpen: Bool) {
    state.withLock { state in
      if wasOpen {
        state.tally.open -= 1
        state.openByID[connection.id, default: 0] -= 1
      }
      state.connections.removeAll { $0 === connection }
    }
  }

  /// What an answer other than `accept` is in the vocabulary; nil for `accept`.
  func failure(for answer: Answer) -> ConnectionError? {
    outcome(of: answer).map { ConnectionError($0, context: $1) }
  }

  private func outcome(of answer: Answer) -> (AppError, FailureContext)? {
    let host = endpoint.host
    let lost = { (reason: String) in AppError.sshConnectionFailed(host: host, reason: reason) }
    let context = { (kind: FailureKind, phase: ConnectionPhase) in
      FailureContext(kind: kind, phase: phase, host: host, port: self.endpoint.port)
    }
    switch answer {
    case .accept: return nil
    case .refuse: return (lost("It refused."), context(.refused, .dial))
    case .drop: return (lost("It dropped us."), context(.dropped, .keyExchange))
    case .hang: return (.sshTimeout(seconds: 10), context(.dialTimeout, .dial))
    case .throttle:
      return (.sshServerBusy(host: host, retryAfter: nil), context(.throttled, .banner))
    case .unknownName: return (.dnsError(host: host), context(.nameUnknown, .resolve))
    case .rejectCredentials:
      let error = AppError.sshAuthenticationFailed(method: "publickey")
      return (error, context(.authenticationRefused, .authenticate))
    case .changeHostKey:
      return (.sshHostKeyMismatch(host: host), context(.hostKeyChanged, .hostKey))
    case .corrupt:
      let error = AppError.sshProtocolError(host: host, detail: "garbage")
      return (error, context(.corrupted, .keyExchange))
    }
  }
}
