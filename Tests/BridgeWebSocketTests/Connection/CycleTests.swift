import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import BridgeWebSocket
import Testing

/// What a connection may be put through, over and over: nothing of it may stay behind.
@Suite("A thousand connections", .timeLimit(.minutes(5)))
struct CycleTests {
  enum Fate: Int, CaseIterable, Sendable {
    case close
    case closeWhileConnecting
    case cancelWhileConnecting
    case letGo
    case closeAfterMessages
    case serverResets
    case refused
  }

  @Test("leave nothing behind", arguments: Fate.allCases)
  func cycles(_ fate: Fate) async throws {
    let echo = try await ScriptedWebSocketPeer(.echo)
    let rude = try await ScriptedWebSocketPeer(WebSocketScript([.awaitMessages(1), .reset]))
    let refusing = try await ScriptedWebSocketPeer(.refusing(503))
    let ports: [Fate: Int] = [.serverResets: rude.port, .refused: refusing.port]
    let reactors = [Reactor(name: "cycle-0"), Reactor(name: "cycle-1")]
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<18 {
            let port = ports[fate] ?? echo.port
            await Self.live(fate, port, on: reactors[(worker + round) % 2])
          }
        }
      }
    }
    // Every link is given back by the time its server has seen it go.
    for peer in [echo, rude, refusing] {
      try await eventually { await peer.openConnections == 0 }
      await peer.stop()
    }
    for reactor in reactors { await reactor.stop() }
  }

  private static func live(_ fate: Fate, _ port: Int, on reactor: Reactor) async {
    guard let url = try? WebSocketEndpoint("ws://127.0.0.1:\(port)/") else { return }
    let connection = WebSocketConnection(to: url, on: reactor)
    let connecting = Task { try await connection.connect() }
    switch fate {
    case .closeWhileConnecting: await connection.close()
    case .cancelWhileConnecting: connecting.cancel()
    case .close, .letGo, .closeAfterMessages, .serverResets, .refused: break
    }
    let outcome = await connecting.result
    switch (fate, outcome) {
    case (.letGo, .success):
      try? await connection.send(text: "good luck")
      return
    case (.closeAfterMessages, .success), (.serverResets, .success):
      for _ in 0..<5 { try? await connection.send(text: "hello") }
      _ = try? await connection.messages.makeAsyncIterator().next()
    default: break
    }
    await connection.close()
    for await _ in connection.events {}
  }
}
