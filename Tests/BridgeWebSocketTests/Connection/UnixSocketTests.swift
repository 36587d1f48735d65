import BridgeErrors
import BridgeTransport
import BridgeWebSocket
import Foundation
import Testing

@Suite("At a unix socket", .timeLimit(.minutes(5)))
struct UnixSocketTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ws-\(UUID().uuidString.prefix(8))").path

  private var path: String { folder + "/app" }

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func connection(
    to url: String = "ws://app.example/chat", at path: String? = nil
  ) throws -> WebSocketConnection {
    var configuration = WebSocketConfiguration()
    configuration.way = .unixSocket(path: path ?? self.path)
    return try WebSocketConnection(to: url, configuration: configuration)
  }

  /// A server, and a connection to it that has its greeting: the host that was asked for.
  private func connected() async throws -> (
    UnixServer, WebSocketConnection, MessageStream.AsyncIterator
  ) {
    let server = try await UnixServer(at: path)
    let connection = try connection()
    try await connection.connect()
    let messages = connection.messages.makeAsyncIterator()
    #expect(try await messages.next() == .text("app.example"))
    return (server, connection, messages)
  }

  @Test("a server is reached by the name of its URL, and a megabyte goes both ways")
  func messages() async throws {
    let (server, connection, messages) = try await connected()
    let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let before = ContinuousClock.now
    try await connection.send(binary: bytes)
    #expect(try await messages.next() == .binary(bytes))
    _ = try await connection.probe(within: .seconds(50))
    try await connection.confirmDelivery(within: .seconds(50))
    #expect(try #require(await connection.lastHeard) > before)
    #expect(await connection.traffic.acknowledged > bytes.count)
    #expect(await connection.close(code: 1000) == 0)
    #expect(try await messages.next() == nil)
    server.kill()
  }

  @Test("a server that reads nothing has taken nothing, and answers no ping")
  func frozen() async throws {
    let (server, connection, _) = try await connected()
    server.freeze()
    let heard = try #require(await connection.lastHeard)
    try await connection.send(binary: [UInt8](repeating: 7, count: 4 << 20))
    await #expect(throws: AppError.webSocketPingTimeout) {
      _ = try await connection.probe(within: .milliseconds(200))
    }
    #expect(await connection.lastHeard == heard)
    #expect(await connection.traffic.acknowledged < 4 << 20)
    await connection.close()
    server.kill()
  }

  @Test("a server that is killed is a lost connection")
  func killed() async throws {
    let (server, connection, messages) = try await connected()
    server.kill()
    await #expect(throws: AppError.webSocketDisconnected(code: nil, reason: nil)) {
      _ = try await messages.next()
    }
    #expect(await connection.lastFailure?.kind == .linkLost)
    #expect(await connection.lastFailure?.native?.socket != .open)
  }

  @Test("what is no server is named with its path", arguments: ["none", "stale", "file", "long"])
  func refused(kind: String) async throws {
    let words: String
    var path = path
    switch kind {
    case "stale":
      try await UnixServer(at: path).kill()
      words = "nothing listens there"
    case "file":
      try Data().write(to: URL(fileURLWithPath: path))
      words = "nothing listens there"
    case "long":
      path += String(repeating: "x", count: 108)
      words = "its path is longer than one may be"
    default: words = "there is no such file"
    }
    let connection = try connection(at: path)
    await #expect(
      throws: AppError.webSocketConnectionFailed(
        reason: "The socket \(path) cannot be connected to: \(words).")
    ) { try await connection.connect() }
    let failure = await connection.lastFailure
    #expect(
      failure?.phase == .dial && [.reconnect, .reconnectSoon].contains(failure?.kind.retryClass()))
  }
}
