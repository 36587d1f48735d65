import BridgeSession
import BridgeSessionProtocol
import BridgeFaults
import Testing

@testable import BridgeAgentHost

@Suite("Output is split into lines, and what was committed is known") struct LineSplitterTests {
  /// A program's output: pieces of its streams, or gaps of so many bytes, one behind the other.
  private enum Printed: Sendable {
    case out(String)
    case error(String)
    case gap(UInt64)
  }

  private static func chunks(_ printed: [Printed]) -> [SessionChunk] {
    var offset: UInt64 = 0
    return printed.map { piece in
      let content: SessionChunk.Content =
        switch piece {
        case .out(let text): .bytes(Array(text.utf8), .standardOutput)
        case .error(let text): .bytes(Array(text.utf8), .standardError)
        case .gap(let length): .gap(to: offset + length)
        }
      let chunk = SessionChunk(offset: offset, content: content)
      offset = chunk.end
      return chunk
    }
  }

  /// The lines as text, one a string: `o` and `e` name the stream, `…` a part that goes on, `|` the
  /// last part.
  private static func describe(_ line: SessionLine) -> String {
    switch line.content {
    case .line(_, let stream): "\(name(stream)) \(line.text ?? "")"
    case .part(_, let stream, let isLast):
      "\(name(stream)) \(line.text ?? "")\(isLast ? "|" : "…")"
    case .gap(let range): "gap \(range.lowerBound)-\(range.upperBound)"
    }
  }

  private static func name(_ stream: ProgramStream) -> String {
    stream == .standardError ? "e" : "o"
  }

  private static func lines(
    _ printed: [Printed], limit: Int = 100, behind: UInt64 = 1 << 20, isCut: Bool = false
  ) -> [String] {
    var splitter = LineSplitter(.init(line: limit, behind: behind))
    for chunk in chunks(printed) { splitter.append(chunk) }
    splitter.finish(isCut: isCut)
    var lines: [String] = []
    while let line = splitter.next() { lines.append(describe(line)) }
    return lines
  }

  @Test func linesOfBothStreamsComeInTheOrderOfTheirEnds() {
    #expect(
      Self.lines([.out("one\ntw"), .error("warn"), .out("o\n"), .error("ing\n\n")])
        == ["o one", "o two", "e warning", "e "])
  }

  @Test func theLastLineNeedsNoLineFeed() {
    #expect(Self.lines([.out("one\ntwo")]) == ["o one", "o two"])
    #expect(Self.lines([.out("one\ntwo")], isCut: true) == ["o one", "o two|"])
    #expect(Self.lines([.out("one\n")]) == ["o one"])
    #expect(Self.lines([]) == [])
  }

  @Test func aCarriageReturnIsNoTextOfItsLine() {
    #expect(Self.lines([.out("one\r\n\r\n")]) == ["o one", "o "])
  }

  @Test(arguments: [
    ("abcd\n", ["o abcd"]), ("abcde\n", ["o abcd…", "o e|"]),
    ("abcdefgh\n", ["o abcd…", "o efgh|"]), ("abcdefghi\n", ["o abcd…", "o efgh…", "o i|"]),
    ("abcde", ["o abcd…", "o e|"]), ("abcd", ["o abcd"]),
  ])
  func aLineBeyondTheLimitComesInParts(text: String, expected: [String]) {
    #expect(Self.lines([.out(text)], limit: 4) == expected)
    // By single bytes.
    #expect(Self.lines(text.map { .out(String($0)) }, limit: 4) == expected)
  }

  @Test func aLineThatExceedsAPowerOfTwoIsHeldOnceOnly() {
    var splitter = LineSplitter(.init(line: 64))
    let bytes = [UInt8](repeating: 0x41, count: 10_000)
    splitter.append(SessionChunk(offset: 0, content: .bytes(bytes, .terminal)))
    var sizes: [Int] = []
    while let line = splitter.next() { sizes.append(line.bytes?.count ?? -1) }
    // The newest part may be the last: it waits for the next byte.
    #expect(sizes == Array(repeating: 64, count: 156))
  }

  @Test func aGapEndsWhatItCutsAndWhatFollowsIsNoWholeLine() {
    #expect(
      Self.lines([.out("one\ntw"), .error("x"), .gap(10), .out("ail\nthree\n"), .error("y\nz\n")])
        == ["o one", "o tw|", "e x|", "gap 7-17", "o ail|", "o three", "e y|", "e z"])
  }

  @Test func aLineThatAnotherStreamLeavesBehindIsHandedOver() {
    let printed: [Printed] = [.out("prompt> ")] + Array(repeating: .error("noise\n"), count: 4)
    #expect(
      Self.lines(printed + [.out("yes\n")], behind: 16)
        == ["e noise", "e noise", "o prompt> …", "e noise", "e noise", "o yes|"].sorted(by: order))
  }

  /// Keeps the order as it is written.
  private func order(_: String, _: String) -> Bool { false }

  // MARK: Committing

  private func commitNext(_ splitter: inout LineSplitter) throws {
    let next = splitter.next()
    splitter.commit(try #require(next))
  }

  @Test func whatIsCommittedEndsBeforeAnUnfinishedLine() throws {
    var splitter = LineSplitter(.init(line: 100))
    for chunk in Self.chunks([.out("unfin"), .error("whole\n"), .error("more\n")]) {
      splitter.append(chunk)
    }
    #expect(splitter.committedOutput == 0)
    try commitNext(&splitter)
    #expect(splitter.committedOutput == 0)
    #expect(splitter.point(epoch: 7).streams[2]?.end == 11)
    splitter.append(
      SessionChunk(offset: 16, content: .bytes(Array("ished\n".utf8), .standardOutput)))
    try commitNext(&splitter)
    try commitNext(&splitter)
    #expect(splitter.committedOutput == 22)
    #expect(splitter.point(epoch: 7) == LinePoint(output: .init(epoch: 7, received: 22)))
  }

  @Test func committingALineCommitsAllBeforeIt() throws {
    var splitter = LineSplitter(.init(line: 100))
    for chunk in Self.chunks([.out("a\n"), .error("b\n"), .out("c\n"), .out("d\n")]) {
      splitter.append(chunk)
    }
    _ = splitter.next()
    _ = splitter.next()
    try commitNext(&splitter)
    #expect(splitter.committedOutput == 6)
  }

  /// Output of both streams, with long lines, empty ones and gaps, by random pieces.
  private static func printing(_ generator: inout SplitMix64) -> [Printed] {
    (0..<Int.random(in: 1...60, using: &generator)).map { _ in
      let text = String(
        (0..<Int.random(in: 1...12, using: &generator)).map { _ in
          "abc\n".randomElement(using: &generator) ?? "a"
        })
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: return .gap(UInt64.random(in: 1...9, using: &generator))
      case 1..<12: return .out(text)
      default: return .error(text)
      }
    }
  }

  /// What the output is from `offset` on, in pieces that are cut anew.
  private static func rest(
    of chunks: [SessionChunk], from offset: UInt64, _ generator: inout SplitMix64
  ) -> [SessionChunk] {
    chunks.flatMap { chunk -> [SessionChunk] in
      guard chunk.end > offset else { return [] }
      let start = max(chunk.offset, offset)
      guard case .bytes(let bytes, let stream) = chunk.content else {
        return [SessionChunk(offset: start, content: chunk.content)]
      }
      let rest = Array(bytes.dropFirst(Int(start - chunk.offset)))
      let cut = Int.random(in: 0...rest.count, using: &generator)
      return [(start, Array(rest[..<cut])), (start + UInt64(cut), Array(rest[cut...]))]
        .filter { !$0.1.isEmpty }
        .map { SessionChunk(offset: $0.0, content: .bytes($0.1, stream)) }
    }
  }

  /// Stores the effect of a line and the point behind it in one transaction.
  private struct Application {
    var point = LinePoint(output: ResumePoint(epoch: 7, received: 0))
    var got: [ProgramStream: [UInt8]] = [:]

    mutating func take(_ line: SessionLine, _ splitter: inout LineSplitter) {
      if let stream = line.stream { got[stream, default: []] += LineSplitterTests.printed(line) }
      splitter.commit(line)
      let next = splitter.point(epoch: 7)
      #expect(next.output.received >= point.output.received)
      point = next
    }
  }

  /// An application that stores its point with its data is killed anywhere, again and again: each
  /// byte of each stream has its effect once and in order, and no line is handed over twice.
  @Test(arguments: 0..<400)
  func whatWasCommittedIsNotHandedOverAgain(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let chunks = Self.chunks(Self.printing(&generator))
    let limit = Int.random(in: 1...8, using: &generator)
    let behind = UInt64.random(in: 8...40, using: &generator)
    var application = Application()
    var lives = 0
    var isOver = false
    while !isOver {
      lives += 1
      var splitter = LineSplitter(.init(line: limit, behind: behind), after: application.point)
      var waiting = Self.rest(of: chunks, from: application.point.output.received, &generator)[...]
      for _ in 0..<(lives > 50 ? 10_000 : Int.random(in: 1...12, using: &generator)) {
        if let line = splitter.next() {
          application.take(line, &splitter)
        } else if let chunk = waiting.popFirst() {
          splitter.append(chunk)
        } else if !isOver {
          splitter.finish(isCut: false)
          isOver = true
        }
      }
      // What the end has ended was not handed over yet, perhaps.
      isOver = isOver && splitter.next() == nil
    }
    #expect(application.point.output.received == chunks.last?.end)
    for stream in [ProgramStream.standardOutput, .standardError] {
      #expect(application.got[stream] == Self.expected(chunks, stream))
    }
  }

  /// What was printed for a line.
  private static func printed(_ line: SessionLine) -> [UInt8] {
    if case .part(let bytes, _, isLast: false) = line.content { return bytes }
    return (line.bytes ?? []) + [0x0A]
  }

  /// The bytes of a stream; an unfinished line before a gap, and at the end, gets its line feed.
  private static func expected(_ chunks: [SessionChunk], _ stream: ProgramStream) -> [UInt8]? {
    var bytes: [UInt8] = []
    func finishLine() { if let last = bytes.last, last != 0x0A { bytes.append(0x0A) } }
    for chunk in chunks {
      switch chunk.content {
      case .bytes(let more, stream): bytes += more
      case .gap: finishLine()
      case .bytes, .omitted, .screen, .size: break
      }
    }
    finishLine()
    return bytes.isEmpty ? nil : bytes
  }
}
