import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// What becomes of a server's messages on standard output.
@Suite(.timeLimit(.minutes(5))) struct MessageOutputTests {
  private static let hostile = "\u{1B}]0;owned\u{7}\u{1B}[2Ja\nbridgectl: Password: \u{202E}\u{9B}"

  @Test("on a terminal a message is one line without control characters")
  func terminal() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript([.text(Self.hostile), .binary([0x1B, 0x63]), .close(1000)]))
    let terminal = try Terminal()
    var screen = try Home().start(["connect", "ws://127.0.0.1:\(peer.port)/"], on: terminal)
    #expect(await screen.end() == 0)
    let shown = #"\x1b]0;owned\x07\x1b[2Ja bridgectl: Password: \u{202e}\x9b"# + "\r\n"
    #expect(screen.transcript.contains(shown), "\(screen.transcript)")
    #expect(screen.transcript.contains(#"\x1bc"# + "\r\n"))
    #expect(!screen.transcript.contains("\u{1B}]0;"))
    #expect(!screen.transcript.contains("\u{1B}c"))
    await peer.stop()
  }

  @Test("in a pipe it is passed on as it is, and an event tells how many lines it takes")
  func pipe() async throws {
    let peer = try await ScriptedWebSocketPeer(
      WebSocketScript([.text("plain"), .text(Self.hostile), .binary([1, 10, 2]), .close(1000)]))
    let outcome = try await Home().run(["connect", "--json", "ws://127.0.0.1:\(peer.port)/"])
    await peer.stop()
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.text == "plain\n\(Self.hostile)\n\u{1}\n\u{2}\n")
    let events = try outcome.error.split(separator: "\n").compactMap { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }.filter { $0["event"] as? String == "message" }
    #expect(events.compactMap { $0["number"] as? Int } == [2, 3])
    #expect(events.compactMap { $0["lines"] as? Int } == [2, 2])
    #expect(events.compactMap { $0["bytes"] as? Int } == [Self.hostile.utf8.count, 3])
    #expect(events.compactMap { $0["binary"] as? Bool } == [false, true])
  }

  @Test("a message that comes slowly after the end of the input is waited for")
  func slowMessage() async throws {
    let text = String(repeating: "m", count: 120_000)
    let peer = try await ScriptedWebSocketPeer(WebSocketScript([.text(text)]))
    let proxy = try await FaultProxy(to: peer.port)
    try await proxy.inject(.bandwidth(30_000, [.toClient]), on: .all)
    // The input ends while the message comes, however busy the machine is.
    let home = try Home()
    let running = try home.start(
      ["connect", "ws://127.0.0.1:\(proxy.port)/"],
      through: #"exec "$0" "$@" < <(until [ -e '\#(home.file("begun"))' ]; do sleep 0.1; done)"#)
    try await eventually { await proxy.connections.values.contains { $0.toClient > 1000 } }
    try home.write("", to: "begun")
    let outcome = try await running.outcome()
    #expect(outcome.code == 0 && outcome.text == text + "\n", "\(outcome.error)")
    await proxy.stop()
    await peer.stop()
  }

  @Test("a close with 1000 is shown as no trouble on a terminal")
  func agreedClose() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript([.text("bye"), .close(1000)]))
    let terminal = try Terminal()
    var screen = try Home().start(["connect", "ws://127.0.0.1:\(peer.port)/"], on: terminal)
    #expect(await screen.end() == 0)
    #expect(!screen.words.contains("Connection Lost"), "\(screen.transcript)")
    #expect(!screen.transcript.contains("econnecting"))
    await peer.stop()
  }
}
