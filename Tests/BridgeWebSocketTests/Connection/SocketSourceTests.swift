import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket
import Testing

@Suite("Over a socket that is made elsewhere", .timeLimit(.minutes(5)))
struct SocketSourceTests {
  /// Dials a port when it may.
  private final class Dialed: SocketSource {
    let port: Int
    let reactor: Reactor
    let isAsked = Latch()
    let mayDial = Latch()
    let end = Mutex<ConnectionError?>(nil)

    init(_ port: Int, on reactor: Reactor) { (self.port, self.reactor) = (port, reactor) }

    static let busy = ConnectionError(
      .sshServerBusy(host: "dev", retryAfter: nil),
      context: FailureContext(kind: .overLimit, phase: .openChannel, host: "dev"))

    var loss: ConnectionError? { end.withLock(\.self) }

    func socket() async throws(ConnectionError) -> Socket {
      isAsked.open()
      // Whether or not the caller is canceled meanwhile.
      let waiting = Task { await mayDial.wait() }
      await waiting.value
      let endpoint = Endpoint(host: "127.0.0.1", port: port)
      guard
        let socket = try? await Task(operation: { try await Dialer.dial(endpoint, on: reactor) })
          .value
      else { throw Self.busy }
      return socket
    }
  }

  private func connection(
    by source: Dialed, within limit: Duration = .seconds(50)
  ) throws -> WebSocketConnection {
    var configuration = WebSocketConfiguration()
    configuration.way = .socket(from: source)
    configuration.timeouts.dial = limit
    return try WebSocketConnection(
      to: "ws://app.example/", configuration: configuration, on: source.reactor)
  }

  @Test("what the way ended is told with its cause, and not as an end by the server")
  func lost() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript([.awaitMessages(1), .reset]))
    let source = Dialed(peer.port, on: ReactorGroup.shared.next())
    source.mayDial.open()
    let connection = try connection(by: source)
    try await connection.connect()
    let cause = ConnectionError(
      .sshConnectionFailed(host: "dev", reason: "The connection was lost."),
      context: FailureContext(kind: .linkLost, phase: .stream, host: "dev"))
    source.end.withLock { $0 = cause }
    try await connection.send(text: "now")
    await #expect(throws: cause.error) {
      _ = try await connection.messages.makeAsyncIterator().next()
    }
    #expect(await connection.lastFailure == cause.context)
    await peer.stop()
  }

  @Test("a close while the socket is made ends the connect, and the socket is closed")
  func closed() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let source = Dialed(peer.port, on: ReactorGroup.shared.next())
    let connection = try connection(by: source)
    let connecting = Task { try await connection.connect() }
    await source.isAsked.wait()
    await connection.close()
    await #expect(throws: AppError.cancelled) { try await connecting.value }
    source.mayDial.open()
    _ = try await peer.first { $0.kind == .accepted }
    _ = try await peer.first { if case .closed = $0.kind { true } else { false } }
    await peer.stop()
  }

  @Test("a socket that comes too late is a timeout of the dial, and is closed")
  func late() async throws {
    let peer = try await ScriptedWebSocketPeer(.echo)
    let source = Dialed(peer.port, on: ReactorGroup.shared.next())
    let connection = try connection(by: source, within: .milliseconds(100))
    await #expect(throws: AppError.timeout(seconds: 1)) { try await connection.connect() }
    #expect(await connection.lastFailure?.phase == .dial)
    source.mayDial.open()
    _ = try await peer.first { if case .closed = $0.kind { true } else { false } }
    await peer.stop()
  }

  @Test("a source without a socket is the reason, with what is known of it")
  func refused() async throws {
    let gone = try await ScriptedTCPPeer(.silent)
    await gone.stop()
    let source = Dialed(gone.port, on: ReactorGroup.shared.next())
    source.mayDial.open()
    let connection = try connection(by: source)
    await #expect(throws: Dialed.busy.error) { try await connection.connect() }
    #expect(await connection.lastFailure == Dialed.busy.context)
  }
}
