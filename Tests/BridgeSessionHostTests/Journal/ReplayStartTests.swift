import BridgeSessionProtocol
import Testing

@testable import BridgeSessionHost

/// Where a new terminal begins to show a session.
@Suite struct ReplayStartTests {
  private func start(_ parts: [[UInt8]]) throws -> ReplayPoint {
    let folder = try JournalTests.Folder()
    let journal = Journal(folder.directory)
    for part in parts { journal.append(.terminal, part) }
    return ReplayStart.find(in: journal, .terminal)
  }

  private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func lines(_ count: Int) -> [UInt8] { (0..<count).flatMap { text("line \($0)\r\n") } }

  /// The cursor, tab stops and what was saved before a clearing are as they were.
  @Test func aShortSessionIsShownFromItsFirstByte() throws {
    let output = text("\u{1B}[3g\u{1B}[5;9H\u{1B}7one\u{1B}[H\u{1B}[2Jtwo\u{1B}8three")
    #expect(try start([output]) == ReplayPoint())
  }

  @Test func aLongOneBeginsWhereTheScreenWasCleared() throws {
    let before = lines(3000)
    let point = try start([before, text("\u{1B}[>1u\u{1B}[H\u{1B}[2J"), text("after")])
    #expect(point.offset == UInt64(before.count) + 8)
    #expect(point.modes == text("\u{1B}[>1u"))
  }

  /// Where it was drawn from there is not known, or what is on the screen was not cleared.
  @Test(arguments: ["\u{1B}[2Jafter", "\u{1B}[H\u{1B}[3Jafter"])
  func aClearingThatIsNoneIsNotBegunAt(_ clearing: String) throws {
    let before = lines(3000)
    let point = try start([before, text(clearing)])
    #expect(point.offset < UInt64(before.count))
  }

  /// When the program ends, the shell behind it is seen.
  @Test func whatLiesBehindAProgramIsShownToo() throws {
    let output = text("\u{1B}[H\u{1B}[2Jprompt\r\n\u{1B}[?1049h\u{1B}[H\u{1B}[2J") + lines(2000)
    #expect(try start([output]) == ReplayPoint())
    let before = lines(9000)
    let point = try start([before, output])
    #expect(point.offset == UInt64(before.count) + 3)
  }

  /// A sequence that is cut in two is text for half of it.
  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  func itNeverBeginsInTheMiddleOfASequenceOrACharacter(_ shift: Int) throws {
    // No line ends in it.
    let frame = text("\u{1B}[12;34Hü€😀\u{1B}]0;a title\u{7}")
    let output = text(String(repeating: "x", count: shift)) + (0..<8000).flatMap { _ in frame }
    let point = try start([output])
    let place = (Int(point.offset) - shift) % frame.count
    let starts: Set = [0, 8, 10, 13, 17]
    #expect(point.offset > 0 && starts.contains(place), "\(place)")
  }

  @Test func theStartOfALineIsPreferred() throws {
    let output = lines(20_000)
    let point = try start([output])
    #expect(output[Int(point.offset) - 1] == UInt8(ascii: "\n"))
    #expect(UInt64(output.count) - point.offset <= ReplayStart.span)
  }
}
