import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// A configuration for a server of our own on loopback: its key, any host key.
func trusting(_ server: SSHServer) -> SSHConfiguration {
  SSHConfiguration(
    user: server.user, credentials: [.keyFile(server.identityFile)], hostKeys: .anyKey)
}

/// Runs `body` with a real sshd, which is gone after.
func withServer(
  _ configuration: SSHServerConfiguration = .init(), _ body: (SSHServer) async throws -> Void
) async throws {
  let server = try await SSHServer(configuration)
  do {
    try await body(server)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

/// Runs `body` with a server whose every word is `script`'s, which is gone after.
func withScript(
  _ script: @escaping ScriptedSSHServer.Script, _ body: (ScriptedSSHServer) async throws -> Void
) async throws {
  let server = try ScriptedSSHServer(script)
  do {
    try await body(server)
  } catch {
    server.stop()
    throw error
  }
  server.stop()
}

/// Uses a connection over a link, or to a peer, that may do anything: at worst that is a typed
/// error, and nothing is left.
func expectSurvival(
  of connection: SSHConnection, _ what: String,
  using use: (SSHConnection) async throws(AppError) -> Void
) async {
  do throws(AppError) {
    try await connection.connect()
    try await use(connection)
  } catch {
    switch error {
    case .unknown, .internalError: Issue.record("\(what): \(error)")
    default: break
    }
  }
  await connection.close()
  #expect(OpenSockets.to(port: connection.endpoint.port).isEmpty)
}

/// Runs `body` with a connection to `server`, dialed at `port` where that is another one (a
/// proxy's), which is closed after.
func withConnection(
  to server: SSHServer, at port: Int? = nil, _ configuration: SSHConfiguration? = nil,
  _ body: (SSHConnection) async throws -> Void
) async throws {
  let connection = SSHConnection(
    to: Endpoint(host: "127.0.0.1", port: port ?? server.port),
    configuration: configuration ?? trusting(server))
  do {
    try await connection.connect()
    try await body(connection)
  } catch {
    await connection.close()
    throw error
  }
  await connection.close()
}

/// How many bytes `server` sends in a session that runs `true`.
func bytesOfASession(_ server: SSHServer) async throws -> Int {
  let proxy = try await FaultProxy(to: server.port)
  try await withConnection(to: server, at: proxy.port) { connection in
    let command = try await connection.execute("true")
    #expect(try await command.exitStatus() == .status(0))
  }
  let closed = try await proxy.first { if case .closed = $0.kind { true } else { false } }
  await proxy.stop()
  guard case .closed(_, let count) = closed.kind else { return 0 }
  return count
}

/// All of a stream, as text.
func text(_ stream: ByteStream) async throws -> String {
  var bytes: [UInt8] = []
  for try await chunk in stream { bytes += chunk }
  return String(decoding: bytes, as: UTF8.self)
}

/// Connects, gives up once a person is `asked`, and leaves no socket behind.
func expectWithdrawal(
  of connection: SSHConnection, byClosing: Bool, once asked: AsyncStream<Void>
) async {
  let connecting = Task { await failure { try await connection.connect() } }
  for await _ in asked { break }
  if byClosing { await connection.close() } else { connecting.cancel() }
  #expect(await connecting.value == .cancelled)
  await connection.close()
  #expect(OpenSockets.to(port: connection.endpoint.port).isEmpty)
}
