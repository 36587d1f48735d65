import BridgeSession
import BridgeSessionProtocol

/// Splits the output of a session into lines, and knows what may be committed.
///
/// The streams of a program are interleaved: behind a whole line of one, the other may have begun a
/// line that is not finished. What is committed of the output as a whole ends before that line;
/// what was committed of each stream is counted beside it, so that no line is handed over twice.
struct LineSplitter: Sendable {
  /// Bounds of what is held.
  struct Limits: Sendable {
    /// The longest line that is handed over as one, in bytes, from 1.
    var line: Int
    /// How much output of another stream may follow an unfinished line, in bytes. The host keeps
    /// all output from that line on, and lets the program wait once it keeps too much.
    var behind: UInt64 = 16 << 20
  }

  fileprivate struct Stream: Sendable {
    /// All bytes below were received.
    var received: UInt64 = 0
    /// The unfinished line, as far as it was not handed over.
    var rest: [UInt8] = []
    /// The offset of its first byte.
    var start: UInt64 = 0
    /// What of the line lies before it.
    var place = LinePoint.Stream.Place.lineStart
  }

  private let limits: Limits
  private var streams = Array(repeating: Stream(), count: ProgramStream.allCases.count)
  private var handed = StreamEnds()
  private var committed = StreamEnds()
  /// All output below was split.
  private var end: UInt64 = 0
  /// The oldest last.
  private var ready: [SessionLine] = []
  private var arrived: [SessionLine] = []

  /// A splitter of the output behind `point`; nil for all of it.
  init(_ limits: Limits, after point: LinePoint? = nil) {
    self.limits = limits
    guard let point else { return }
    end = point.output.received
    for (number, committedEnd) in point.streams {
      guard let name = UInt8(exactly: number).flatMap(ProgramStream.init) else { continue }
      committed[name] = committedEnd
      streams[name].received = committedEnd.end
      streams[name].place = committedEnd.place
    }
    handed = committed
  }

  // MARK: Splitting

  /// The oldest line that was not handed over; nil where there is none.
  mutating func next() -> SessionLine? {
    if ready.isEmpty {
      swap(&ready, &arrived)
      ready.reverse()
    }
    return ready.popLast()
  }

  /// Takes in the next piece of the output.
  mutating func append(_ chunk: SessionChunk) {
    switch chunk.content {
    case .bytes(let bytes, let stream): append(bytes, to: stream, at: chunk.offset)
    case .gap(let to), .omitted(let to, screen: _): append(gap: chunk.offset..<to)
    case .screen, .size: break
    }
    end = max(end, chunk.end)
  }

  private mutating func append(_ bytes: [UInt8], to name: ProgramStream, at offset: UInt64) {
    // What was committed before a restart, and printed among lines that were not.
    let known = committed[name].end > offset ? Int(clamping: committed[name].end - offset) : 0
    var rest = bytes.dropFirst(known)
    guard !rest.isEmpty else { return }
    var position = offset + UInt64(known)
    if isCommitted(name) { committed[name].end = position }
    streams[name].received = offset + UInt64(bytes.count)
    while !rest.isEmpty {
      if streams[name].rest.isEmpty { streams[name].start = position }
      let space = limits.line - streams[name].rest.count
      let feed = rest.prefix(space + 1).firstIndex(of: 0x0A)
      let part = rest[..<(feed ?? min(rest.startIndex + space, rest.endIndex))]
      streams[name].rest += part
      rest = rest[part.endIndex...]
      position += UInt64(part.count)
      if feed != nil {
        rest.removeFirst()
        position += 1
        hand(name, through: position, isLast: true)
      } else if !rest.isEmpty {
        hand(name, through: position, isLast: false)
      }
    }
    handLeftBehind(by: name)
  }

  /// Hands over the beginning of a line that another stream has left far behind.
  private mutating func handLeftBehind(by name: ProgramStream) {
    for other in ProgramStream.allCases where other != name && !streams[other].rest.isEmpty {
      guard streams[other].start + limits.behind < streams[name].received else { continue }
      hand(other, through: streams[other].received, isLast: false)
    }
  }

  private mutating func append(gap: Range<UInt64>) {
    finish(isCut: true)
    for name in ProgramStream.allCases {
      if isCommitted(name) { committed[name].end = max(committed[name].end, gap.lowerBound) }
      streams[name].received = max(streams[name].received, gap.upperBound)
      streams[name].place = .afterGap
      handed[name] = LinePoint.Stream(end: streams[name].received, place: .afterGap)
    }
    emit(.gap(gap))
  }

  /// Hands over the lines that the end of the output ends, or cuts.
  mutating func finish(isCut: Bool) {
    for name in ProgramStream.allCases {
      let isUnfinished = !streams[name].rest.isEmpty || streams[name].place == .insideLine
      guard isUnfinished else { continue }
      if isCut { streams[name].place = .insideLine }
      // A part without bytes has its end here, too: what lies before it may have been committed.
      hand(name, through: end, isLast: true)
    }
  }

  /// Hands over what is there of a stream's line.
  ///
  /// - Parameter offset: the offset after its last byte, with the line feed.
  private mutating func hand(_ name: ProgramStream, through offset: UInt64, isLast: Bool) {
    let isPart = streams[name].place != .lineStart || !isLast
    let bytes = streams[name].rest
    streams[name].rest = []
    streams[name].place = isLast ? .lineStart : .insideLine
    handed[name] = LinePoint.Stream(end: offset, place: streams[name].place)
    emit(isPart ? .part(bytes, name, isLast: isLast) : .line(bytes, name))
  }

  private mutating func emit(_ content: SessionLine.Content) {
    arrived.append(SessionLine(content: content, ends: handed))
  }

  // MARK: Committing

  /// Records that `line`, and all that was handed over before it, has done its work.
  mutating func commit(_ line: SessionLine) { committed.advance(to: line.ends) }

  /// All output below was committed.
  var committedOutput: UInt64 {
    ProgramStream.allCases.lazy.filter { !isCommitted($0) }.map { committed[$0].end }.min() ?? end
  }

  /// What to store; `epoch` is the run of the session.
  func point(epoch: UInt64) -> LinePoint {
    let output = committedOutput
    var point = LinePoint(output: ResumePoint(epoch: epoch, received: output))
    for name in ProgramStream.allCases {
      let stream = committed[name]
      if stream.end > output || stream.place != .lineStart {
        point.streams[Int(name.rawValue)] = stream
      }
    }
    return point
  }

  private func isCommitted(_ name: ProgramStream) -> Bool {
    committed[name].end >= streams[name].received
  }
}

extension [LineSplitter.Stream] {
  fileprivate subscript(name: ProgramStream) -> Element {
    get { self[Int(name.rawValue) - 1] }
    _modify { yield &self[Int(name.rawValue) - 1] }
  }
}
