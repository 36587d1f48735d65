import BridgeSSH
import BridgeTerminalState
import Testing

@testable import BridgeCommands

/// A viewer's terminal shows a session's of the same size, or of another.
@Suite struct SessionViewTests {
  private static let phone = TerminalSize(columns: 20, rows: 5)
  private static let large = TerminalSize(columns: 40, rows: 10)

  /// A viewer with the terminal that it writes to.
  private struct Viewer {
    var view: SessionView
    var state = TerminalState()
    var terminal: TerminalScreen

    init(_ size: TerminalSize) {
      view = SessionView(size)
      terminal = TerminalScreen(rows: size.rows, columns: size.columns)
    }

    mutating func write(_ bytes: [UInt8]) {
      state.track(bytes)
      terminal.track(bytes)
    }

    mutating func setSize(_ size: TerminalSize) {
      write(view.setSize(size, after: state))
    }

    /// Output comes: what is not shown in a window is written as it is.
    mutating func print(_ text: String) {
      let isWindow = view.isWindow
      let shown = view.take(Array(text.utf8))
      write(isWindow ? shown : Array(text.utf8))
    }

    var rows: [String] { (0..<terminal.rows).map { terminal.text(ofRow: $0) } }
  }

  @Test func ofOneSizeOutputIsShownAsItComes() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.phone)
    viewer.print("one\r\ntwo")
    #expect(!viewer.view.isWindow && !viewer.terminal.isAlternateScreen)
    #expect(viewer.rows == ["one", "two", "", "", ""])
  }

  /// A host of an older version says nothing of it.
  @Test func withoutASizeOutputIsShownAsItComes() {
    var viewer = Viewer(Self.phone)
    viewer.print("one")
    viewer.write(viewer.view.resize(Self.large, after: viewer.state))
    #expect(!viewer.view.isWindow && viewer.rows[0] == "one")
  }

  /// Of `~?` and `~s`: it can be read, and goes as a whole.
  @Test func whatIsWrittenOverAWindowStaysUntilItIsDrawnAnew() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.large)
    viewer.print("\u{1B}[10;1Hbelow\u{1B}[9;1Habove")
    let before = viewer.rows
    viewer.write(viewer.view.cover() + Array("\r\nhelp\r\nmore help\r\n".utf8))
    viewer.write(viewer.view.cover() + Array("and more\r\n".utf8))
    let covered = viewer.rows
    #expect(viewer.view.isCovered && covered.contains("help") && covered.contains("and more"))
    viewer.print("\u{1B}[8;1Hnew")
    #expect(viewer.rows == covered)
    viewer.write(viewer.view.redraw())
    #expect(!viewer.view.isCovered && before == ["", "", "", "", "above"])
    #expect(viewer.rows == ["", "", "", "new", "above"])
  }

  @Test func outputThatIsShownAsItComesIsNotHeld() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.phone)
    #expect(viewer.view.cover() == [] && !viewer.view.isCovered)
  }

  @Test func ofALargerOneAWindowIsShown() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.large)
    viewer.print("\u{1B}[10;1HAllow this? ")
    #expect(viewer.view.isWindow && viewer.terminal.isAlternateScreen)
    #expect(viewer.rows[4] == "Allow this?")
  }

  @Test func theWindowEndsWhereBothAreOfOneSize() {
    for viewerChanges in [true, false] {
      var viewer = Viewer(Self.phone)
      viewer.setSize(Self.large)
      viewer.print("one\r\n\u{1B}[?2004h\u{1B}[31mtwo")
      if viewerChanges {
        viewer.terminal.resize(rows: Self.large.rows, columns: Self.large.columns)
        viewer.write(viewer.view.resize(Self.large, after: viewer.state))
      } else {
        viewer.setSize(Self.phone)
      }
      #expect(!viewer.view.isWindow && !viewer.terminal.isAlternateScreen)
      viewer.print("three")
      #expect(viewer.rows.prefix(3) == ["one", "twothree", ""])
      #expect(String(decoding: viewer.state.reset, as: UTF8.self).contains("?2004l"))
    }
  }

  /// What was shown before the sizes differed is on the screen, and what a program set is undone.
  @Test func aWindowBeginsWithAllThatIsThere() {
    var viewer = Viewer(Self.large)
    viewer.setSize(Self.large)
    viewer.print("\u{1B}[?1000h\u{1B}[10;1HAllow this? ")
    viewer.terminal.resize(rows: Self.phone.rows, columns: Self.phone.columns)
    viewer.write(viewer.view.resize(Self.phone, after: viewer.state))
    #expect(viewer.rows[4] == "Allow this?")
    // Only the window's own screen is to be left at the end.
    let reset = String(decoding: viewer.state.reset, as: UTF8.self)
    #expect(reset.contains("?1049l") && !reset.contains("?1000l"))
  }

  @Test func aWindowOnNothingSaysWhereItIs() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.large)
    viewer.print("\u{1B}[10;1HAllow this? ")
    #expect(viewer.view.words == nil)
    viewer.write(viewer.view.move([.up, .up]))
    #expect(viewer.view.words == "Nothing in rows 2-6, columns 1-20.")
    viewer.setSize(Self.phone)
    #expect(viewer.view.words == nil)
  }

  /// An update of the program that was under way then must not hide it.
  @Test func aScreenThatIsDrawnAsAWholeIsShownWithinAnUpdateToo() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.large)
    viewer.write(viewer.view.take(Array("\u{1B}[?2026h\u{1B}[10;1Hhere".utf8), isDrawing: true))
    #expect(viewer.rows[4] == "here")
    viewer.print(" and")
    #expect(viewer.rows[4] == "here" && viewer.view.isWithheld)
    viewer.write(viewer.view.move([.up, .follow]))
    #expect(viewer.rows[4] == "here and")
    viewer.print(" there")
    viewer.write(viewer.view.passOverUpdate())
    #expect(viewer.rows[4] == "here and there" && !viewer.view.isWithheld)
  }

  @Test func theScreenOfNowReplacesWhatWasLeftOut() {
    var viewer = Viewer(Self.phone)
    viewer.setSize(Self.large)
    viewer.print("\u{1B}[10;1Hold \u{1B}[?1049hold")
    viewer.write(viewer.view.replace(with: Array("\u{1B}[10;1Hnew".utf8)))
    #expect(viewer.rows[4] == "new" && !viewer.rows.contains { $0.contains("old") })
  }

  @Test(arguments: [
    ("\u{1B}[A\u{1B}OBhl", [ScreenWindow.Move.up, .down, .left, .right]),
    ("jk f", [.down, .up, .follow, .follow]),
    ("q\u{1B}xA\u{1B}[1;5C\u{1B}[3~", [.right]), ("\u{1B}\u{1B}[D", [.left]),
  ])
  func keysMoveIt(typed: String, moves: [ScreenWindow.Move]) {
    var (whole, pieces) = (ViewKeys(), ViewKeys())
    #expect(whole.take(Array(typed.utf8)) == moves)
    #expect(typed.utf8.flatMap { pieces.take([$0]) } == moves)
  }
}
