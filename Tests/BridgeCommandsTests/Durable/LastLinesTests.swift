import BridgeCommands
import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import Testing

/// Where `logs --tail` begins.
@Suite struct LastLinesTests {
  private static func beginning(
    of count: Int, in text: String, from offset: UInt64 = 0, beginsLine: Bool = true,
    by size: Int = 3
  ) -> UInt64? {
    var lines = LastLines(count, from: offset, beginsLine: beginsLine)
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let part = Array(bytes[start..<min(start + size, bytes.count)])
      let stream = start % 2 == 0 ? ProgramStream.standardOutput : .standardError
      lines.take(SessionChunk(offset: offset + UInt64(start), content: .bytes(part, stream)))
    }
    return lines.beginning
  }

  /// As tail(1) counts: a last line without its newline is one.
  @Test(arguments: [
    ("one\ntwo\nthree\n", 1, 8), ("one\ntwo\nthree", 1, 8), ("one\ntwo\nthree\n", 2, 4),
    ("one\ntwo\nthree\n", 3, 0), ("\n\n\n", 2, 1), ("a\n\n", 1, 2), ("one", 1, 0),
    ("one\n", 0, 4),
  ])
  func itIsTheOffsetOfTheFirstOfThem(_ text: String, _ count: Int, _ offset: UInt64) {
    for size in 1...text.utf8.count {
      #expect(Self.beginning(of: count, in: text, by: size) == offset, "in parts of \(size)")
    }
  }

  @Test func whereFewerWereReadItIsNotKnown() {
    #expect(Self.beginning(of: 4, in: "one\ntwo\nthree\n") == nil)
    #expect(Self.beginning(of: 1, in: "") == nil)
    #expect(Self.beginning(of: 0, in: "", from: 7) == 7)
    // The first bytes are the end of a line that began before.
    #expect(Self.beginning(of: 2, in: "e\ntwo\n", from: 2, beginsLine: false) == nil)
    #expect(Self.beginning(of: 1, in: "e\ntwo\n", from: 2, beginsLine: false) == 4)
  }

  @Test func behindAGapALineBegins() {
    var lines = LastLines(2, from: 0, beginsLine: true)
    lines.take(SessionChunk(offset: 0, content: .gap(to: 100)))
    lines.take(SessionChunk(offset: 100, content: .bytes(Array("x\nlast\n".utf8), .standardOutput)))
    #expect(lines.beginning == 100)
  }

  /// A ring of many lines keeps the last.
  @Test func ofManyLinesTheLastAreKept() {
    let text = String(repeating: "0123456\n", count: 1000)
    for count in [1, 7, 999, 1000] {
      #expect(Self.beginning(of: count, in: text, by: 100) == UInt64((1000 - count) * 8))
    }
    #expect(Self.beginning(of: 1001, in: text, by: 100) == nil)
  }

  @Test(
    arguments: [
      (nil, "x"), (nil, "-1"), (nil, "1000001"), (nil, ""), ("x", nil), ("1", "1"),
      ("99999999999999999999", nil),
    ] as [(String?, String?)])
  func whatIsNoBeginningIsSaid(from: String?, tail: String?) throws {
    let error = try #require(throws: AppError.self) {
      try LogsCommand.beginning(from: from, tail: tail)
    }
    guard case .validationError(let field, _) = error else { throw error }
    #expect(field == (tail == nil ? "--from" : "-n"))
  }

  @Test func theOptionsSayWhereToBegin() throws {
    #expect(try LogsCommand.beginning(from: nil, tail: nil) == .oldest)
    #expect(try LogsCommand.beginning(from: "7", tail: nil) == .offset(7))
    #expect(try LogsCommand.beginning(from: nil, tail: "0") == .lastLines(0))
  }
}
