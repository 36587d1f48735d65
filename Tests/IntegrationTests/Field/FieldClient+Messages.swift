import BridgeFaults
import Foundation

extension FieldClient {
  /// A WebSocket that is idle for longer than a keepalive, then streams, and is closed.
  func messages() async throws -> Finding {
    let lines = ["first"] + (1...2_000).map { "message \($0)" }
    return try await messages(
      "printf 'first\\n'; sleep 6; seq -f 'message %.0f' 1 2000; sleep 30",
      WebSocketScript([.awaitMessages(lines.count), .close(1000)], echoes: true), lines)
  }

  /// A WebSocket whose link breaks while nothing is on its way.
  func messagesThroughOutage() async throws -> Finding {
    let go = shared("go")
    return try await messages(
      "printf 'first\\n'; until [ -e \(go) ]; do sleep 0.05; done; printf 'second\\n'; sleep 40",
      WebSocketScript(echoes: true), ["first", "second"], breaks: true)
  }

  /// The peer is a part of the tests: beside busy programs it may be late for the usual time limit
  /// of a handshake, which is not what these stories tell.
  private var timeLimit: [String] {
    switch world.world.machine {
    case .busy, .oneThread: ["--timeout", "60s"]
    case .idle, .descriptors: []
    }
  }

  private func messages(
    _ input: String, _ script: WebSocketScript, _ lines: [String], breaks: Bool = false
  ) async throws -> Finding {
    let peer = try await ScriptedWebSocketPeer([script])
    let port = try await world.way(to: peer.port)
    let running = try start(
      ["connect", "ws://127.0.0.1:\(port)/chat"] + timeLimit,
      before: "exec < <(\(input)); ")
    if breaks {
      if try await printed("first\n", by: running) { try await world.breakLinks() }
      try letGo()
      if try await printed("second\n", by: running) { running.child.signal(SIGINT) }
    }
    let outcome = try await end(running)
    await peer.stop()
    let expected = lines.map { $0 + "\n" }.joined()
    if outcome.text == expected, outcome.code == (breaks ? 130 : 0) { return .right() }
    return Finding(stoppedBy: outcome, "\(outcome.output.count) of \(expected.utf8.count) bytes")
  }
}
