import BridgeFaults
import Foundation
import Testing

/// `bridgectl connect ws://…`: lines are messages.
@Suite(.timeLimit(.minutes(5))) struct MessageTests {
  private func run(
    _ scripts: [WebSocketScript], _ options: [String] = [], input: [UInt8] = Array("one\ntwo".utf8)
  ) async throws -> Outcome {
    let peer = try await ScriptedWebSocketPeer(scripts)
    let outcome = try await Home().run(
      ["connect"] + options + ["ws://127.0.0.1:\(peer.port)/chat?a=b"], input: input)
    await peer.stop()
    return outcome
  }

  @Test func linesGoOutAndMessagesComeIn() async throws {
    let outcome = try await run([.echo])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.text == "one\ntwo\n")
    #expect(outcome.error.isEmpty)
  }

  @Test func withLengthsAnyMessageIsWhole() async throws {
    let input: [UInt8] = [0, 0, 0, 3, 10, 0, 255, 0, 0, 0, 0]
    let outcome = try await run([.echo], ["--binary"], input: input)
    #expect(outcome.code == 0, "\(outcome.error)")
    let isWhole = outcome.output == input
    #expect(isWhole)
  }

  @Test(
    arguments: [
      (WebSocketScript.refusing(401), 77, "apiUnauthorized"), (.refusing(404), 69, "apiNotFound"),
      (.refusing(429), 75, "apiRateLimited"), (.refusing(503), 75, "serverError"),
      (WebSocketScript(upgrade: .wrongAccept), 76, "webSocketConnectionFailed"),
    ] as [(WebSocketScript, Int32, String)])
  func aRefusalHasItsExitCode(
    _ script: WebSocketScript, _ code: Int32, _ name: String
  ) async throws {
    let outcome = try await run([script])
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [\(name)] "), "\(outcome.error)")
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: [(1000, 0), (1003, 76), (1008, 76), (1011, 69)] as [(UInt16, Int32)])
  func aCloseHasItsExitCode(_ close: UInt16, _ code: Int32) async throws {
    let outcome = try await run([.closing(close)], ["--no-reconnect"], input: [])
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(outcome.error.isEmpty == (code == 0))
  }

  @Test func aLostLinkIsDialledAgain() async throws {
    let greeting = WebSocketScript([.text("again")], echoes: true)
    let outcome = try await run([.closing(1011), greeting])
    // What went into the first connection before its end was seen may be lost, and is reported.
    let isInDoubt = outcome.error.contains("may not have arrived")
    #expect(outcome.code == (isInDoubt ? 74 : 0), "\(outcome.error)")
    #expect(outcome.text.contains("again\n"))
  }

  /// Messages that came wait for a slow output, however their connection ended, and come first.
  @Test func whatCameIsWrittenEvenIfTheLinkIsGone() async throws {
    let messages = (0..<60).map { "\($0)-" + String(repeating: "x", count: 10_000) }
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript(messages[..<30].map { .text($0) } + [.close(1011)]),
      WebSocketScript(messages[30...].map { .text($0) } + [.close(1000)]),
    ])
    let home = try Home()
    let output = try StalledPipe()
    let child = try Child(
      ["connect", "ws://127.0.0.1:\(peer.port)/"], environment: home.environment,
      streams: .descriptors(input: 0, output: output.writing.fileDescriptor, error: 2))
    _ = try await peer.first { $0.connection == 2 && $0.kind == .closed }
    let text = String(decoding: try output.readAll(), as: UTF8.self)
    #expect(text == messages.map { $0 + "\n" }.joined())
    #expect(await child.ending.code() == 0)
    await peer.stop()
  }

  /// The link goes in the middle of a batch: an echo of its beginning proves nothing of its end.
  @Test func whatWasOnItsWayIsTold() async throws {
    let peer = try await ScriptedWebSocketPeer([.echo, .echo])
    let proxy = try await FaultProxy(to: peer.port)
    try await proxy.inject(.cut(after: 600, .toServer))
    try await proxy.inject(.bandwidth(2_000, [.toServer]), on: .next)
    let lines = (0..<200).map { "message \($0)" }
    let outcome = try await Home().run(
      ["connect", "ws://127.0.0.1:\(proxy.port)/"], input: Array(lines.joined(separator: "\n").utf8)
    )
    #expect(outcome.code == 74, "\(outcome.error)")
    let arrived = await peer.log.compactMap { event in
      if case .text(let text) = event.kind { text } else { nil }
    }
    #expect(Set(arrived).count == arrived.count)
    #expect(arrived.count < lines.count)
    let told = outcome.error.split(separator: " ").compactMap { Int($0) }.first ?? 0
    #expect(arrived.count + told >= lines.count, "\(arrived.count) arrived: \(outcome.error)")
    await proxy.stop()
    await peer.stop()
  }

  /// What is typed into a link that is dead, and known to be suspect, goes over the next one; what
  /// went into it before that is reported.
  @Test func aDeadLinkLosesNothingSilently() async throws {
    let peer = try await ScriptedWebSocketPeer([.echo, .echo])
    let proxy = try await FaultProxy(to: peer.port)
    let terminal = try Terminal()
    var screen = try Home().start(
      [
        "connect", "--keepalive", "1s", "--dead-after", "4s", "ws://127.0.0.1:\(proxy.port)/",
      ], on: terminal)
    try await screen.see("each line is sent as a message")
    screen.type("one\r")
    _ = try await peer.first { $0.kind == .text("one") }
    try await screen.see("one\r\none")
    try await proxy.inject(.freeze())
    screen.type("lost\r")
    try await screen.see("has not responded")
    screen.type("held\r")
    let held = try await peer.first { $0.kind == .text("held") }
    #expect(held.connection == 2)
    screen.type("\u{4}")
    let code = await screen.end()
    // On a slow machine the link may be suspect before "lost" goes into it; then it is held, too.
    let hasArrived = await peer.log.contains { $0.kind == .text("lost") }
    let isReported = screen.words.contains("may not have arrived; not sent again")
    #expect(isReported || hasArrived, "\(screen.transcript)")
    #expect(code == (isReported ? 74 : 0))
    #expect(screen.transcript.contains("bridgectl: The link is back after "))
    await proxy.stop()
    await peer.stop()
  }

  /// The link falls silent, and every dial after that is answered by a captive portal. It goes away
  /// some time: it is shown and waited for, and the program does not end.
  @Test func aCaptivePortalIsShownAndWaitedFor() async throws {
    let peer = try await ScriptedWebSocketPeer([.echo, .refusing(302)])
    let proxy = try await FaultProxy(to: peer.port)
    let terminal = try Terminal()
    var screen = try Home().start(
      [
        "connect", "--keepalive", "1s", "--dead-after", "3s", "ws://127.0.0.1:\(proxy.port)/",
      ], on: terminal)
    try await screen.see("each line is sent as a message")
    try await proxy.inject(.freeze())
    // Fifteen seconds at least, and a quarter more.
    try await screen.see("portal), answers instead.")
    try await screen.see("next attempt (2) in 1")
    screen.type("\u{3}")
    #expect(await screen.end() == 130)
    #expect(screen.transcript.contains("status 302"))
    await proxy.stop()
    await peer.stop()
  }

  /// The terminal shows what is typed, also while a banner is there.
  @Test func whoTypesKeepsTheCursorAndLeavesWithoutAnError() async throws {
    let peer = try await ScriptedWebSocketPeer([.echo])
    let terminal = try Terminal()
    var screen = try Home().start(["connect", "ws://127.0.0.1:\(peer.port)/"], on: terminal)
    try await screen.see("each line is sent as a message")
    await peer.stop()
    try await screen.see("reconnecting")
    try await screen.see("\u{1B}8")
    screen.type("a line")
    try await screen.see("a line")
    try await screen.see("\u{1B}[J")
    screen.type("\u{3}")
    #expect(await screen.end() == 130)
    #expect(screen.transcript.contains("\r\u{1B}[Kbridgectl: disconnected from 127.0.0.1."))
    #expect(!screen.transcript.contains("[cancelled]"))
  }

  @Test func aTerminalThatCannotDrawGetsLines() async throws {
    let peer = try await ScriptedWebSocketPeer([.echo])
    let terminal = try Terminal()
    var screen = try Home().start(
      ["connect", "ws://127.0.0.1:\(peer.port)/"], on: terminal, environment: ["TERM": "dumb"])
    try await screen.see("each line is sent as a message")
    await peer.stop()
    try await screen.see("Retrying; changes are reported.")
    screen.type("\u{3}")
    #expect(await screen.end() == 130)
    #expect(!screen.transcript.contains("\u{1B}"))
  }
}
