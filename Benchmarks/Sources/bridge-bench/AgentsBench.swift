import BridgeAgentHost
import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeSupervision
import BridgeTransport
import Foundation

/// One run of `bridge-bench agents`: durable sessions on one machine, as many connections as the
/// server's MaxSessions requires. Each waits for a word, then prints its lines.
struct AgentsBench {
  private let port: Int
  private let keyFile: String
  private let program: String
  private let count: Int
  private let lines: Int

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 6, arguments[0] == "agents" else { return nil }
    let numbers = arguments[4...].compactMap(Int.init)
    guard let port = Int(arguments[1]), numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else {
      return nil
    }
    self.port = port
    (keyFile, program) = (arguments[2], arguments[3])
    (count, lines) = (numbers[0], numbers[1])
  }

  func callAsFunction() async throws {
    let reactor = ReactorGroup.shared.next()
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1, executor: reactor)
    let configuration = SSHConfiguration(
      user: "root", credentials: [.keyFile(keyFile)], hostKeys: .anyKey)
    let machine = RemoteMachine(
      "machine", at: Endpoint(host: "127.0.0.1", port: port), supervisor
    ) { SSHConnection(to: $0, configuration: configuration, on: reactor) }
    let sessions = (0..<count).map { _ in session(on: machine) }
    let start = Stopwatch()
    try await each(sessions) { session in _ = try await session.attach() }
    let ready = start.wall
    let connections = await machine.connectionCount
    let watch = Stopwatch()
    try await each(sessions) { [lines] session in
      try await session.write(Array("go\n".utf8))
      var read = 0
      for try await _ in session.lines() { read += 1 }
      guard read == lines else {
        throw AppError.internalError(detail: "\(read) lines of \(lines)")
      }
      await session.close()
    }
    let (wall, processor) = watch.stopped
    let total = Double(count * lines)
    report([
      ("agents", Double(count)), ("connections", Double(connections)), ("ready_s", ready),
      ("lines", total), ("lines_per_s", total / wall), ("cpu", processor),
      ("peak_MiB", Self.peakMemory),
    ])
    await machine.close()
    await supervisor.shutDown()
  }

  private func session(on machine: RemoteMachine) -> DurableSession {
    var spec = SessionSpec(session: SessionID.random())
    spec.command = Array("read go; exec seq \(lines)".utf8)
    var configuration = DurableSession.Configuration(
      host: "machine", starting: spec, client: ClientID.random())
    configuration.program = program
    return machine.session(configuration)
  }

  private func each(
    _ sessions: [DurableSession], _ body: @escaping @Sendable (DurableSession) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup { group in
      for session in sessions { group.addTask { try await body(session) } }
      try await group.waitForAll()
    }
  }

  /// VmHWM of proc_pid_status(5), in MiB.
  private static var peakMemory: Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
  }
}
