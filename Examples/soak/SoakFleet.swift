import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket
import Foundation
import Narration

/// One link and the proxy it goes through.
struct SoakLink: Sendable {
  let id: ConnectionID
  let isSSH: Bool
  let proxy: FaultProxy
  /// What it depends on.
  var parent: ConnectionID?

  /// About so many bytes come with one answer to a probe.
  var chatter: Int { isSSH ? 24 : 4 }
  /// No more than so many bytes make a connection, in one direction. Behind a WebSocket's comes
  /// what nothing protects: of an echo with another byte in it no error would tell.
  var handshake: Int { isSSH ? 2_500 : 128 }

  /// The proxy reads nothing of connections that it ignored, so it never learns of their end.
  func forgetIgnored() async throws(FaultError) {
    let open = await proxy.connections
    for event in await proxy.log where event.kind == .accepted(.ignore) {
      guard let number = event.connection, open[number] != nil else { continue }
      try await proxy.inject(.reset, on: .connection(number))
    }
  }
}

/// The servers, and links to them: odd ones SSH, even ones WebSocket.
struct SoakFleet: Sendable {
  let server: SSHServer
  let peer: ScriptedWebSocketPeer
  let links: [SoakLink]
  let census = Census()

  /// Short silences and deadlines: what is measured is the recovery, and not the timeouts.
  static let liveness = LivenessPolicy(keepalive: .seconds(1), switching: .free)
  static let handshake = Duration.seconds(3)
  /// Short logs: that they fill is not to look like a leak.
  static let logCapacity = 128

  init(_ count: Int, seed: UInt64) async throws(FaultError) {
    var configuration = SSHServerConfiguration()
    // A shell that bash takes for a nested one reads no start-up file of the user's: what that
    // does, and how long, is no part of a soak.
    configuration.lines = ["SetEnv SHLVL=2"]
    server = try await SSHServer(configuration)
    peer = try await ScriptedWebSocketPeer(.echo, logCapacity: Self.logCapacity)
    var links: [SoakLink] = []
    for number in 0..<count {
      let isSSH = Self.isSSH(number)
      let port = isSSH ? server.port : peer.port
      let proxy = try await FaultProxy(
        to: port, seed: seed &+ UInt64(number), logCapacity: Self.logCapacity)
      let id = ConnectionID((isSSH ? "ssh " : "websocket ") + "\(number + 1)")
      let parent =
        number % Self.family == Self.family - 1 ? links[number + 1 - Self.family].id : nil
      links.append(SoakLink(id: id, isSSH: isSSH, proxy: proxy, parent: parent))
    }
    self.links = links
  }

  /// The last of so many links depends on the first of them.
  static let family = 8

  static func isSSH(_ number: Int) -> Bool { number % 2 == 0 }

  /// One WebSocket on every reactor: what a reactor makes for its first one, it keeps.
  func useEveryReactor() async throws(AppError) {
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(peer.port)/")
    for _ in 0..<ProcessInfo.processInfo.processorCount {
      let connection = WebSocketConnection(to: url)
      try await connection.connect()
      await connection.close()
    }
  }

  /// Has all links supervised, under the default policy and budget.
  func supervise(
    by supervisor: Supervisor<ContinuousClock>, _ recorder: Recorder
  ) async throws(AppError) {
    for link in links {
      let endpoint = Endpoint(host: "127.0.0.1", port: link.proxy.port)
      let options = LinkOptions(
        parents: [link.parent].compactMap(\.self), liveness: Self.liveness)
      let application = Application(link: link, recorder: recorder)
      if link.isSSH {
        try await supervisor.add(
          link.id, to: endpoint, options,
          onGeneration: { (connection: SSHConnection, generation) in
            await application.use(connection, generation)
          }, make: sshMaker())
      } else {
        try await supervisor.add(
          link.id, to: endpoint, options,
          onGeneration: { (connection: WebSocketConnection, generation) in
            await application.use(connection, generation)
          }, make: try webSocketMaker(endpoint))
      }
    }
  }

  private func sshMaker() -> @Sendable (Endpoint) -> SSHConnection {
    var configuration = SSHConfiguration(for: server)
    configuration.timeouts.handshake = Self.handshake
    return { [configuration, census] endpoint in
      let connection = SSHConnection(to: endpoint, configuration: configuration)
      census.count(connection)
      return connection
    }
  }

  private func webSocketMaker(
    _ endpoint: Endpoint
  ) throws(AppError) -> @Sendable (Endpoint) -> WebSocketConnection {
    let url = try WebSocketEndpoint("ws://\(endpoint)/")
    var configuration = WebSocketConfiguration()
    configuration.timeouts.upgrade = Self.handshake
    configuration.receiveBuffer = Application.receiveBuffer
    return { [configuration, census] _ in
      let connection = WebSocketConnection(to: url, configuration: configuration)
      census.count(connection)
      return connection
    }
  }

  /// Ends every standing fault.
  func heal() async throws(FaultError) {
    for link in links { try await link.proxy.heal() }
  }

  /// Connections that the servers or the proxies still know.
  var openConnections: Int {
    get async {
      var count = await peer.openConnections + server.sessionProcesses
      for link in links { count += await link.proxy.connections.count }
      return count
    }
  }

  func stop() async {
    for link in links { await link.proxy.stop() }
    await peer.stop()
    await server.stop()
  }
}

extension Connection {
  /// What an application does first: a command, or a message and its echo.
  func roundTrip() async throws(AppError) {
    guard let socket = self as? WebSocketConnection else {
      guard try await answer(to: "echo here") == "here" else {
        throw .internalError(detail: "a command was answered with something else")
      }
      return
    }
    try await socket.send(text: "here")
    for try await message in socket.messages {
      guard message == .text("here") else {
        throw .internalError(detail: "an echo was something else")
      }
      return
    }
    throw .webSocketDisconnected(code: nil, reason: nil)
  }
}

/// The generations that were made and are still in memory, each with its native session.
final class Census: Sendable {
  private struct Entry {
    weak var connection: (any Connection)?
  }

  private let entries = Mutex<[Entry]>([])

  func count(_ connection: any Connection) {
    entries.withLock { entries in
      entries.removeAll { $0.connection == nil }
      entries.append(Entry(connection: connection))
    }
  }

  var living: Int {
    entries.withLock { entries in entries.count { $0.connection != nil } }
  }
}
