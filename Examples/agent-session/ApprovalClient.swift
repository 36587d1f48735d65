import BridgeAgentHost
import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Foundation

/// What the client keeps beside its own data: enough to go on after its death at any point.
struct ApprovalState: Codable {
  var session = SessionID.random()
  var client = ClientID.random()
  var command: String
  var user: String
  var identity: String
  var port: Int
  /// So many answers were recorded.
  private(set) var answered = 0
  /// The requests that were answered.
  private(set) var seen: LinePoint?
  /// How far answers were written, with the newest one.
  private var input: InputPoint?
  /// The newest answer, recorded before it was written, and its offset.
  private(set) var pending: [UInt8] = []
  private(set) var offset: UInt64 = 0

  init(command: String, user: String, identity: String, port: Int) {
    self.command = command
    self.user = user
    self.identity = identity
    self.port = port
  }

  init(at path: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: path)))
  }

  /// One transaction: what it replaces is there, or what replaces it.
  func save(to path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(filePath: path), options: .atomic)
  }

  /// A request was seen, and this is its answer, to be written at `point`.
  mutating func record(_ answer: [UInt8], seen: LinePoint, at point: InputPoint) {
    answered += 1
    self.seen = seen
    (pending, offset) = (answer, point.written)
    input = InputPoint(written: point.written + UInt64(answer.count), lease: point.lease)
  }

  /// The session, where the last life of the client left off.
  var configuration: DurableSession.Configuration {
    var spec = SessionSpec(session: session)
    spec.command = Array(command.utf8)
    var configuration = DurableSession.Configuration(
      host: "127.0.0.1", starting: spec, client: client)
    configuration.program =
      URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "bridge-host").path
    if let seen {
      configuration.start = nil
      configuration.resume = seen.output
      configuration.input = input
    }
    return configuration
  }
}

/// Answers an agent's requests, one JSON line each, until the agent ends.
enum ApprovalClient {
  /// Ends the process with the agent's exit status.
  static func run(settings: String) async -> Never {
    do {
      exit(try await answerAll(settings))
    } catch {
      print("client: \(error)")
      exit(70)
    }
  }

  private static func answerAll(_ settings: String) async throws -> Int32 {
    var state = try ApprovalState(at: settings)
    let dialer = ApprovalDialer(state)
    let session = DurableSession(state.configuration) { command, _ throws(AppError) in
      try await dialer.channel(running: command)
    }
    _ = try await session.attach()
    // Whether the last life's answer arrived is the host's to know: it is dropped there if it did.
    if !state.pending.isEmpty { try await session.write(state.pending, at: state.offset) }
    let lines = session.lines(after: state.seen)
    for try await element in lines.json(as: Request.self) {
      guard case .value(let request, let line) = element,
        let seen = await lines.point(after: line), let input = await session.inputPoint
      else { return 74 }
      let answer = Array("{\"answer\":\(request.request)}\n".utf8)
      state.record(answer, seen: seen, at: input)
      try state.save(to: settings)
      try await session.write(answer, at: state.offset)
    }
    let end = try await session.exitStatus()
    await session.close()
    guard case .exited(let status) = end else { return 74 }
    return Int32(status)
  }

  private struct Request: Decodable { var request: Int }
}

/// Dials again whenever the session asks for a channel and the link is gone.
private actor ApprovalDialer {
  private let endpoint: Endpoint
  private let configuration: SSHConfiguration
  private var connection: SSHConnection?

  init(_ state: ApprovalState) {
    endpoint = Endpoint(host: "127.0.0.1", port: state.port)
    configuration = SSHConfiguration(
      user: state.user, credentials: [.keyFile(state.identity)], hostKeys: .anyKey)
  }

  func channel(running command: String) async throws(AppError) -> any ByteChannel {
    for _ in 0..<1_000 {
      do throws(AppError) {
        return try await link().channel(running: command)
      } catch {
        let hasLink = await connection?.lastFailure == nil
        guard connection == nil || !hasLink else { throw error }
        await connection?.close()
        connection = nil
      }
    }
    throw .networkUnavailable
  }

  private func link() async throws(AppError) -> SSHConnection {
    if let connection, await connection.lastFailure == nil { return connection }
    await connection?.close()
    let next = SSHConnection(to: endpoint, configuration: configuration)
    connection = next
    try await next.connect()
    return next
  }
}
