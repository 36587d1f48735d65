import BridgeSessionProtocol
import BridgeTerminalState
import Testing

@testable import BridgeSessionHost

/// What a new terminal is shown of a session: the screen of now.
@Suite struct ScreenCheckpointTests {
  private static let size = WindowSize(columns: 80, rows: 24)

  private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// A terminal that is sent these bytes.
  private func terminal(_ parts: [UInt8]..., size: WindowSize = size) -> TerminalScreen {
    var screen = TerminalScreen(rows: Int(size.rows), columns: Int(size.columns))
    for part in parts { screen.track(part) }
    return screen
  }

  @Test func aQuestionIsSeenHoweverLongItsSpinnerTurns() throws {
    let folder = try JournalTests.Folder()
    let journal = Journal(folder.directory)
    let question = text("\u{1B}[2J\u{1B}[HAllow command? \u{1B}[1mrm -rf build\u{1B}[m [y] ")
    let frame = text("\u{1B}7\u{1B}[20;3H\u{1B}[36m*\u{1B}[m\u{1B}8")
    let spinner = (0..<15_000).flatMap { _ in frame }
    for part in [question, spinner] { journal.append(.terminal, part) }
    var checkpoint = ScreenCheckpoint(Self.size)
    checkpoint.advance(to: journal.newest, in: journal)
    let shown = try #require(checkpoint.render(for: nil))
    #expect(checkpoint.offset == journal.newest && shown.count < 1000)
    let isSame = terminal(shown) == terminal(question, spinner)
    #expect(isSame)
  }

  /// Output is of the size that the terminal had when it was printed.
  @Test func sizesTakeEffectWhereTheyWereSet() throws {
    let folder = try JournalTests.Folder()
    let journal = Journal(folder.directory)
    var checkpoint = ScreenCheckpoint(Self.size)
    let narrow = WindowSize(columns: 20, rows: 6)
    let line = text(String(repeating: "0123456789", count: 3))
    journal.append(.terminal, line + text("\r\n"))
    checkpoint.resize(to: narrow, at: journal.newest)
    journal.append(.terminal, line)
    #expect(checkpoint.wasResized)
    checkpoint.advance(to: journal.newest, in: journal)
    let shown = terminal(try #require(checkpoint.render(for: nil)), size: narrow)
    let rows = (0..<4).map { shown.text(ofRow: $0) }
    #expect(rows == ["01234567890123456789", "01234567890123456789", "0123456789", ""])
    let wide = terminal(try #require(checkpoint.render(for: Self.size)))
    #expect(wide.text(ofRow: 2) == "0123456789" && wide.position == (2, 10))
  }

  @Test func whatWasLostMakesItInexact() throws {
    let folder = try JournalTests.Folder()
    let journal = Journal(folder.directory)
    journal.append(.terminal, text("one"))
    var checkpoint = ScreenCheckpoint(Self.size)
    folder.directory.remove(journal.segments[0].dataName)
    let found = Journal(folder.directory)
    checkpoint.advance(to: 3, in: found)
    #expect(!checkpoint.isExact)
  }

  @Test func linesAboveTheScreenAreLeftOutWhereTheWholeIsLong() throws {
    let folder = try JournalTests.Folder()
    let journal = Journal(folder.directory)
    // A color for each character.
    let line = (0..<80).map { "\u{1B}[38;2;1;2;\($0)mx" }.joined() + "\r\n"
    journal.append(.terminal, text(String(repeating: line, count: 100)))
    var checkpoint = ScreenCheckpoint(Self.size)
    checkpoint.advance(to: journal.newest, in: journal)
    let shown = try #require(checkpoint.render(for: nil))
    #expect(terminal(shown).historyCount == 0 && shown.count <= ScreenCheckpoint.longest)
  }
}
