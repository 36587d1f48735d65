import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSessionProtocol
import BridgeTerminalState
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeConsole

@Suite("The page shows the screens of agents", .timeLimit(.minutes(2))) struct ScreenTests {
  // MARK: Frames

  private func picture(
    _ text: String, rows: Int = 3, _ standing: AgentScreen.Standing = .live
  ) -> ScreenPicture {
    var terminal = TerminalScreen(rows: rows, columns: 10, history: 0)
    terminal.track(Array(text.utf8))
    return ScreenPicture(terminal, standing)
  }

  @Test func aFrameHasWhatHasChanged() throws {
    let first = picture("a\r\nb")
    let whole = try #require(first.frame(after: nil, at: 7))
    #expect(whole.lines.map(\.row) == [0, 1, 2] && whole.at == 7 && whole.standing == "live")
    #expect(whole.cursor == ScreenFrame.Cursor(row: 1, column: 1))
    #expect(first.frame(after: picture("a\r\nb"), at: 8) == nil)
    let next = try #require(picture("a\r\n\u{1B}[1;4;38;2;255;0;16mc").frame(after: first, at: 8))
    #expect(next.lines.map(\.row) == [1])
    let run = try #require(next.lines.first?.runs.first)
    #expect(run.text == "c" && run.look == ["bold", "underlined"] && run.foreground == "#ff0010")
    // A loss of the link alone, a cursor alone, another size.
    #expect(picture("a\r\nb", .interrupted).frame(after: first, at: 9)?.lines.isEmpty == true)
    let hidden = try #require(picture("a\r\nb\u{1B}[?25l").frame(after: first, at: 9))
    #expect(hidden.cursor == nil && hidden.lines.isEmpty)
    #expect(picture("a\r\nb", rows: 2).frame(after: first, at: 9)?.lines.count == 2)
  }

  // MARK: Requests

  private func run(_ world: ConsoleWorld, _ agent: String, _ field: String) throws -> CurlRun {
    try world.stream([field], at: "/api/agents/\(agent)/screen")
  }

  @Test func whoMayReadSeesItLive() async throws {
    let command = "stty -echo; printf '<b>one</b>'; read x; printf two; read x"
    let size = WindowSize(columns: 30, rows: 5)
    let limits = ConsoleLimits(screens: 1)
    try await withWorld(ConsoleWorld(limits)) { page in
      try await AgentWorld.with(page, agent: "a b", running: command, on: size) { world in
        try await eventually { page.state.host?.agents.first?.hasScreen == true }
        #expect(try await page.get("/api/agents/a%20b/screen").status == 401)
        let field = page.bearer(page.viewer)
        #expect(try await page.get("/api/agents/other/screen", [field]).status == 404)
        let run = try run(page, "a%20b", field)
        try await eventually { run.text.contains("<b>one</b>") }
        #expect(run.text.hasPrefix("event: screen\ndata: {\"at\":"))
        #expect(run.text.contains("\"columns\":30"))
        // There are so many places; one that is left is free again.
        let refused = try await page.get("/api/agents/a%20b/screen", [field])
        #expect(refused.status == 503 && refused.headers["retry-after"] == "10")
        await run.stop()
        try await eventually { page.console.board.count(of: .screen) == 0 }
        // The link of the machine breaks, and heals.
        let other = try self.run(page, "a%20b", field)
        try await eventually { other.text.contains("\"standing\":\"live\"") }
        await world.server.killSessions()
        try await eventually {
          let parts = other.text.components(separatedBy: "\"standing\":\"interrupted\"")
          return parts.count > 1 && parts[parts.count - 1].contains("\"standing\":\"live\"")
        }
        page.console.revoke(tokenNamed: "eve")
        try await eventually { page.console.board.count(of: .screen) == 0 }
        await other.stop()
      }
    }
  }

  @Test func theEndOfTheSessionIsTold() async throws {
    try await withWorld(ConsoleWorld()) { page in
      try await AgentWorld.with(page, agent: "a", running: "echo last; read x") { world in
        try await eventually { page.state.host?.agents.first?.hasScreen == true }
        let run = try run(page, "a", page.bearer(page.viewer))
        try await eventually { run.text.contains("\"text\":\"last\"") }
        await world.endAll()
        try await eventually { run.text.contains("event: over\ndata: {\"message\":\"The session") }
        await run.stop()
      }
    }
  }
}
