import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket
import Narration

/// Many links of two kinds under one supervisor.
struct DemoFleet: Sendable {
  let supervisor: Supervisor<ContinuousClock>
  let ids: [ConnectionID]
  private let events: any AsyncSequence<RecoveryEvent, Never> & Sendable

  /// So many links of each kind, through these proxies.
  init(
    _ count: Int, _ server: SSHServer, over ssh: FaultProxy, sockets: FaultProxy, seed: UInt64
  ) async throws {
    supervisor = Supervisor(clock: ContinuousClock(), seed: seed)
    events = supervisor.events()
    // Short, so that half a minute has space for many failures.
    let liveness = LivenessPolicy(keepalive: .seconds(1), switching: .free)
    let configuration = SSHConfiguration(for: server)
    let endpoint = Endpoint(host: "127.0.0.1", port: ssh.port)
    var ids: [ConnectionID] = []
    for number in 1...count {
      let shell = ConnectionID("ssh \(number)")
      let options = LinkOptions(liveness: liveness)
      try await supervisor.add(shell, to: endpoint, options) { endpoint in
        SSHConnection(to: endpoint, configuration: configuration)
      }
      let socket = ConnectionID("ws \(number)")
      try await supervisor.add(socket, toWebSocketAt: sockets.port, options)
      ids += [shell, socket]
    }
    self.ids = ids
  }

  /// Where each link stands.
  func states() async -> [LinkRow] {
    var states: [LinkRow] = []
    for id in ids { states.append(LinkRow(id, await supervisor.state(of: id))) }
    return states
  }

  /// Looks again and again until all are up.
  func untilAllAreUp() async throws {
    while await !states().allSatisfy(\.isUp) {
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
  }

  /// How many answer: a command over SSH, a ping over WebSocket.
  func answering() async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for id in ids { group.addTask { try await isAnswering(id) } }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  private func isAnswering(_ id: ConnectionID) async throws -> Bool {
    let connection = try await supervisor.connection(id)
    if connection is SSHConnection {
      return try await connection.answer(to: "echo \(id)") == id.description
    }
    return try await connection.probe(within: .seconds(5)) > .zero
  }

  /// Errors by name until the supervisor shuts down, of those events that were not missed.
  func countErrors() async -> [String: Int] {
    var errors: [String: Int] = [:]
    for await event in events {
      if case .failed(let failure) = event.step {
        errors[failure.error.caseName, default: 0] += 1
      }
    }
    return errors
  }

  /// Whether an error with this name says what happened.
  static func isTyped(_ caseName: String) -> Bool {
    caseName != "unknown" && caseName != "internalError"
  }
}

/// Where a link stands, for people.
struct LinkRow: Sendable {
  var name: String
  var isUp: Bool
  var words: String

  init(_ id: ConnectionID, _ state: RecoveryStateMachine.State?) {
    name = id.description
    (isUp, words) =
      switch state {
      case .up(let generation): (true, "up, link \(generation)")
      case .degraded(let generation): (false, "link \(generation) in doubt")
      case .connecting(let generation): (false, "dials link \(generation)")
      case .waiting: (false, "waits for its next try")
      case .ready: (false, "waits for its turn")
      case .suspended: (false, "suspended")
      case .failed(let error): (false, "needs a person: \(error.caseName)")
      case .idle, .closed, nil: (false, "closed")
      }
  }
}
