import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Foundation
import Testing

/// A real sshd whose users keep their sessions in a directory of the test's own, and the
/// `bridge-host` that was built.
final class SessionServer: Sendable {
  let server: SSHServer
  let folder: URL

  /// Products are beside the test's own executable.
  static let program = URL(
    filePath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  ).deletingLastPathComponent().appending(path: "bridge-host").path

  private init(_ server: SSHServer, _ folder: URL) {
    self.server = server
    self.folder = folder
  }

  /// Runs `body`; afterwards no session, no keeper and no file is left.
  ///
  /// - Parameter maxSessions: channels that it allows on a connection; nil for a high number.
  static func with(
    maxSessions: Int? = nil, _ body: (SessionServer) async throws -> Void
  ) async throws {
    var configuration = SSHServerConfiguration()
    if let maxSessions { configuration.maxSessions = maxSessions }
    let server = try await SSHServer(configuration)
    // The home directory that this server gives its users.
    let sessions = SessionServer(
      server, URL(filePath: server.identityFile).deletingLastPathComponent())
    let result: Result<Void, any Error>
    do {
      try await body(sessions)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    sessions.killAll()
    await server.stop()
    try result.get()
  }

  var configuration: SSHConfiguration {
    SSHConfiguration(
      user: server.user, credentials: [.keyFile(server.identityFile)], hostKeys: .anyKey)
  }

  /// A new connection, at a proxy's port where one is given.
  func connect(at port: Int? = nil) async throws(AppError) -> SSHConnection {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port ?? server.port), configuration: configuration)
    try await connection.connect()
    return connection
  }

  func spec(_ command: String?) -> SessionSpec {
    var spec = SessionSpec(session: .fresh())
    spec.command = command.map { Array($0.utf8) }
    return spec
  }

  /// A session that is started over links of its own, dialed again as long as it asks for more.
  func session(
    _ spec: SessionSpec, client: ClientID = .fresh(), at port: Int? = nil,
    dialer: Dialer? = nil, _ change: (inout DurableSession.Configuration) -> Void = { _ in }
  ) -> DurableSession {
    var configuration = DurableSession.Configuration(
      host: "127.0.0.1", starting: spec, client: client)
    configuration.program = Self.program
    change(&configuration)
    let dialer = dialer ?? Dialer(self, port)
    return DurableSession(configuration) { command, last throws(AppError) in
      try await dialer.channel(running: command, after: last)
    }
  }

  /// The keepers' processes.
  var keepers: [Int32] {
    let sessions = Set(names.map { "\(root)/\($0)" })
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.compactMap { Int32($0) }.filter { process in
      let directory = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(process)/fd/3")
      return directory.map(sessions.contains) == true
    }
  }

  /// The sessions' directories, half-made ones too.
  var names: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    // What belongs to all sessions.
    return names.filter { ![".place", ".names"].contains($0) }
  }

  /// Where bridge-host keeps sessions.
  var root: String { folder.appending(path: ".local/state/bridge/s").path }

  private func killAll() {
    for name in names where Identifier(text: name) != nil {
      // A keeper ends once the end is on the disk: not before that is the folder removed.
      for verb in [["kill", "--signal", "KILL"], ["wait"]] {
        _ = try? ShortProcess.run(
          [Self.program] + verb + ["--session", name], environment: ["HOME": folder.path])
      }
    }
  }
}

/// Dials until a link is there: what a supervisor does, without waiting.
actor Dialer {
  private let server: SessionServer
  private let port: Int?
  private var connection: SSHConnection?
  private var isKilled = false
  private(set) var dials = 0

  private let prepare: @Sendable (Int) async throws -> Void

  /// `prepare` is called before dial number 1, 2, …
  init(
    _ server: SessionServer, _ port: Int?,
    prepare: @escaping @Sendable (Int) async throws -> Void = { _ in }
  ) {
    self.server = server
    self.port = port
    self.prepare = prepare
  }

  func channel(
    running command: String, after last: ByteChannelEnding?
  ) async throws(AppError) -> any ByteChannel {
    while true {
      if Task.isCancelled || isKilled { throw .cancelled }
      do throws(AppError) {
        return try await link.channel(running: command)
      } catch {
        guard dials < Self.limit, await hasNoLink else { throw error }
        await connection?.close()
        connection = nil
      }
    }
  }

  /// A test that dials more often than this hangs.
  private static let limit = 2000

  private var hasNoLink: Bool {
    get async {
      guard let connection else { return true }
      return await connection.lastFailure != nil
    }
  }

  private var link: SSHConnection {
    get async throws(AppError) {
      if let connection, await connection.lastFailure == nil { return connection }
      await connection?.close()
      connection = nil
      dials += 1
      do {
        try await prepare(dials)
      } catch {
        throw .internalError(detail: "\(error)")
      }
      let dialed = try await server.connect(at: port)
      connection = dialed
      return dialed
    }
  }

  func close() async { await connection?.close() }

  /// Nothing goes out or comes in any more, as where the client's process was killed.
  func kill() async {
    isKilled = true
    await connection?.close()
  }
}

extension Identifier {
  /// Ids differ between runs: sessions of two runs never meet.
  static func fresh() -> Identifier {
    var hasher = Hasher()
    hasher.combine(ContinuousClock.now)
    var generator = SplitMix64(seed: UInt64(bitPattern: Int64(hasher.finalize())))
    return Identifier(high: generator.next(), low: generator.next())
  }
}

/// Reads and commits a session's output to its end: the bytes of each stream, and the gaps.
func drain(
  _ session: DurableSession, commits: Bool = true
) async throws(AppError) -> (bytes: [ProgramStream: [UInt8]], gaps: [Range<UInt64>]) {
  var bytes: [ProgramStream: [UInt8]] = [:]
  var gaps: [Range<UInt64>] = []
  for try await chunk in session.output {
    switch chunk.content {
    case .bytes(let more, let stream): bytes[stream, default: []] += more
    case .gap(let to): gaps.append(chunk.offset..<to)
    case .screen, .omitted, .size: break
    }
    if commits { await session.commit(through: chunk.end) }
  }
  return (bytes, gaps)
}
