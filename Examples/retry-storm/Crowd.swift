import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import Narration

/// Many links to one host under one supervisor, and a count of their dials.
///
/// A connection is made before its link has a turn to dial: only the events tell dials. Those that
/// a reader that falls behind has missed count as dials.
struct Crowd {
  let supervisor: Supervisor<ContinuousClock>
  private let ids: [ConnectionID]
  private let dials: AsyncStream<ContinuousClock.Instant>
  private let counter: AsyncStream<ContinuousClock.Instant>.Continuation

  /// Supervises so many links to `server`.
  init(_ count: Int, to server: SSHServer, seed: UInt64) async throws {
    supervisor = Supervisor(clock: ContinuousClock(), seed: seed)
    ids = (1...count).map { ConnectionID("link \($0)") }
    (dials, counter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(100_000))
    let configuration = SSHConfiguration(for: server)
    let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
    for id in ids {
      try await supervisor.add(id, to: endpoint) { endpoint in
        SSHConnection(to: endpoint, configuration: configuration)
      }
    }
  }

  /// Counts dials until the task is canceled. What is made waits for its turn, and is no dial yet.
  func countDials() async {
    for await event in supervisor.events() {
      switch event.step {
      case .attempted: counter.yield(.now)
      case .missed(let count): for _ in 0..<count { counter.yield(.now) }
      default: break
      }
    }
  }

  /// How many links are up now.
  var up: Int {
    get async {
      var count = 0
      for id in ids {
        if case .up = await supervisor.state(of: id) { count += 1 }
      }
      return count
    }
  }

  /// Looks again and again until so many are up.
  func untilUp(_ count: Int) async throws {
    while await up != count { try await ContinuousClock().sleep(for: .milliseconds(20)) }
  }

  /// When each dial began; to be asked once, at the end.
  func dialTimes() async -> [ContinuousClock.Instant] {
    counter.finish()
    return await dials.reduce(into: []) { $0.append($1) }
  }
}
