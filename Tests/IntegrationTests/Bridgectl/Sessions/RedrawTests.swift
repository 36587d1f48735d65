import BridgeFaults
import Foundation
import Testing

/// A terminal emulator (pyte) in place of a person's eyes.
enum Emulator {
  private static let programs = [
    "/usr/bin/python3", "/usr/bin/vim", "/usr/bin/less", "/usr/bin/top",
  ]

  static let isThere =
    FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/pyte")
    && programs.allSatisfy(FileManager.default.isExecutableFile)

  private static let script = """
    import sys, pyte
    class Screen(pyte.Screen):
        # Version 0.8 fails on what it does not know of xterm.
        def select_graphic_rendition(self, *attributes, private=False):
            if not private:
                super().select_graphic_rendition(*attributes)
    screen = Screen(int(sys.argv[1]), int(sys.argv[2]))
    pyte.ByteStream(screen).feed(sys.stdin.buffer.read())
    print("\\n".join(line.rstrip() for line in screen.display))
    """

  /// The rows of a terminal to which this was written.
  static func rows(
    _ transcript: String, columns: UInt16, rows: UInt16, _ home: Home
  ) async throws -> [String] {
    let outcome = try await home.run(
      ["-c", script, "\(columns)", "\(rows)"], input: Array(transcript.utf8),
      program: "/usr/bin/python3")
    try #require(outcome.code == 0, "\(outcome.error)")
    return outcome.text.split(separator: "\n", omittingEmptySubsequences: false)
      .prefix(Int(rows)).map(String.init)
  }
}

/// Full-screen programs in a durable shell, as a person sees them who attaches from another
/// terminal, of the same size and of a larger one.
@Suite(.timeLimit(.minutes(4)), .enabled(if: Emulator.isThere)) struct RedrawTests {
  private struct Scene {
    let server: SSHServer
    let home: Home
    /// The terminal that is attached now.
    var size = (columns: UInt16(80), rows: UInt16(24))
    var screen: Screen

    /// Waits until the screen is like this.
    mutating func until(_ isRight: ([String]) -> Bool) async throws -> [String] {
      while true {
        let rows = try await Emulator.rows(
          screen.transcript, columns: size.columns, rows: size.rows, home)
        if isRight(rows) { return rows }
        do { try await screen.readMore() } catch {
          Issue.record("the screen:\n\(rows.joined(separator: "\n"))")
          throw error
        }
      }
    }

    /// Leaves and attaches from a new terminal, which knows nothing of what was on the old one.
    mutating func move(columns: UInt16, rows: UInt16) async throws {
      screen.type("\r~d")
      #expect(await screen.end() == 0)
      size = (columns, rows)
      let terminal = try Terminal(columns: columns, rows: rows)
      screen = try home.start(["attach"] + server.link(home) + ["127.0.0.1"], on: terminal)
    }

    /// Ends the program by these keys, and the shell behind it.
    mutating func end(_ keys: String) async throws {
      screen.type(keys)
      try await screen.see("program is over")
      screen.type("exit 4\r")
      #expect(await screen.end() == 4)
    }
  }

  private func inShell(_ command: String, _ body: (inout Scene) async throws -> Void) async throws {
    try await withSessions { server, home, _ in
      let terminal = try Terminal()
      let screen = try home.start(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1"], on: terminal)
      var scene = Scene(server: server, home: home, screen: screen)
      scene.screen.type("PS1=; stty -echo; cd; echo rea''dy\r")
      try await scene.screen.see("ready\r\n")
      scene.screen.type(command + "; echo progr''am is over\r")
      try await body(&scene)
    }
  }

  @Test func vimIsAsItWas() async throws {
    try await inShell("vim -u NONE -i NONE -n text") { scene in
      try await scene.screen.see("[New")
      scene.screen.type("ifirst line\rsecond line\r\u{1B}")
      let before = try await scene.until { $0[1] == "second line" && $0[3] == "~" }
      try await scene.move(columns: 80, rows: 24)
      _ = try await scene.until { $0.dropLast() == before.dropLast() }
      try await scene.move(columns: 100, rows: 30)
      _ = try await scene.until { rows in
        rows[0] == "first line" && rows[1] == "second line" && rows[2] == ""
          && rows[3...28].allSatisfy { $0 == "~" }
      }
      // It is vim that goes on, and not a picture of it.
      scene.screen.type("Gothird line\u{1B}")
      _ = try await scene.until { $0[3] == "third line" }
      try await scene.end(":q!\r")
    }
  }

  @Test func lessIsOnItsPage() async throws {
    try await inShell("seq 1 500 > numbers; less numbers") { scene in
      _ = try await scene.until { $0[0] == "1" && $0[22] == "23" }
      scene.screen.type(" ")
      let before = try await scene.until { $0[0] == "24" && $0[22] == "46" }
      // A line feed moves it by a line.
      try await scene.move(columns: 80, rows: 24)
      _ = try await scene.until { $0.dropLast() == before.dropLast() || $0[0] == "25" }
      try await scene.move(columns: 100, rows: 30)
      _ = try await scene.until { rows in
        guard let first = Int(rows[0]), first > 24 else { return false }
        return rows.dropLast() == (first..<(first + 29)).map { "\($0)" }[...]
      }
      try await scene.end("q")
    }
  }

  /// It draws itself anew each second: what is seen is of now.
  @Test func topShowsTheSystemAsItIs() async throws {
    try await inShell("top -d 1") { scene in
      func isTop(_ rows: [String]) -> Bool {
        rows[0].hasPrefix("top - ") && rows.count { $0.contains(" PID USER ") } == 1
      }
      let before = try await scene.until(isTop)
      try await scene.move(columns: 80, rows: 24)
      let again = try await scene.until { isTop($0) && $0[0] != before[0] }
      try await scene.move(columns: 100, rows: 30)
      _ = try await scene.until { rows in
        isTop(rows) && rows[0] != again[0] && rows.contains { $0.hasSuffix("top") }
      }
      try await scene.end("q")
    }
  }
}
