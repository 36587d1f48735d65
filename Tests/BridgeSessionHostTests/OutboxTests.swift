import Testing

@testable import BridgeSessionHost

/// Bytes under way to a reader.
@Suite struct OutboxTests {
  /// Of a length that no size of a part or a pipe is a multiple of.
  private static let pattern = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  private static func bytes(_ count: Int, from start: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let next = (start + bytes.count) % pattern.count
      bytes += pattern[next...].prefix(count - bytes.count)
    }
    return bytes
  }

  /// A reader of a pipe that does not wait.
  private struct Reader {
    let writer: Channel
    let reader: Channel

    init() throws {
      let pipe = try BridgeSessionHost.Pipe()
      try pipe.reader.setNonblocking()
      try pipe.writer.setNonblocking()
      writer = Channel(pipe.writer, .own)
      reader = Channel(pipe.reader, .own)
    }

    func read(_ limit: Int) -> [UInt8] {
      if case .bytes(let bytes) = reader.read(limit) { return bytes }
      return []
    }
  }

  /// Parts of every size, of arrays and of the middle of arrays, to a reader that takes what it
  /// wants: nothing is lost, doubled or in another place.
  @Test(arguments: 0..<20) func aSlowReaderGetsAllInOrder(seed: Int) throws {
    var state = UInt64(seed)
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % (limit + 1)
    }
    let pipe = try Reader()
    var (outbox, made, taken) = (FrameOutbox(), [UInt8](), [UInt8]())
    for _ in 0..<200 {
      let largest = [3, 600, FrameOutbox.shortestShared, 200_000][random(3)]
      let bytes = Self.bytes(random(largest), from: made.count)
      let margin = random(9)
      let array = [UInt8](repeating: 0xEE, count: margin) + bytes + [0xEE]
      outbox.add(array[margin..<(margin + bytes.count)])
      made += bytes
      let before = outbox.count
      switch outbox.write(to: pipe.writer) {
      case .wrote(let count): #expect(count == before && outbox.count == 0)
      case .nothing: #expect(outbox.count > 0)
      case .closed: Issue.record("the reader is there")
      }
      taken += pipe.read(1 + random(99_999))
    }
    while taken.count < made.count {
      _ = outbox.write(to: pipe.writer)
      taken += pipe.read(100_000)
    }
    #expect(taken == made && outbox.count == 0)
    #expect(pipe.read(1).isEmpty)
  }

  /// One read of a program may leave much space in its array.
  @Test func shortPartsAreKeptInOneArray() throws {
    let pipe = try Reader()
    var outbox = FrameOutbox()
    for index in 0..<10_000 { outbox.add(Self.bytes(20, from: index * 20)[...]) }
    #expect(outbox.count == 200_000 && outbox.partCount < 10)
    var taken: [UInt8] = []
    while outbox.count > 0 {
      _ = outbox.write(to: pipe.writer)
      taken += pipe.read(1 << 20)
    }
    #expect(taken == Self.bytes(200_000, from: 0))
  }

  /// It never has sent all; what is sent does not stay.
  @Test func aReaderThatIsAlwaysBehindCostsNoMore() throws {
    let pipe = try Reader()
    var outbox = FrameOutbox()
    let part = Self.bytes(FrameOutbox.shortestShared, from: 0)
    for _ in 0..<4 { outbox.add(part[...]) }
    for _ in 0..<1000 {
      outbox.add(part[...])
      _ = outbox.write(to: pipe.writer)
      _ = pipe.read(part.count)
    }
    #expect(outbox.count > 0 && outbox.partCount < 200)
  }

  @Test func aReaderThatIsGoneIsSaid() throws {
    Programs.ignoreBrokenPipes()
    var outbox = FrameOutbox()
    outbox.add([1, 2, 3])
    let pipe = try Reader()
    pipe.reader.descriptor.closeNow()
    #expect(outbox.write(to: pipe.writer) == .closed && outbox.count == 3)
  }

  /// A program waits a few milliseconds for a reader that takes what it gets, and not for one that
  /// has stopped.
  @Test func aProgramIsNotHeldUpByAReaderThatHasStopped() throws {
    let pipe = try Reader()
    let connection = Attachment(
      id: 1, input: pipe.reader, output: pipe.writer, process: nil, agent: nil, at: 1000)
    connection.queue(Self.bytes(2 << 20, from: 0))
    #expect(connection.catchUpEnd(at: 1000) == nil)
    // Once more after its pipe was widened.
    for _ in 0..<2 { connection.flush(at: 1000) }
    #expect(connection.unsent > 0 && connection.catchUpEnd(at: 1001) == 1005)
    connection.flush(at: 1004)
    #expect(connection.catchUpEnd(at: 1005) == nil)
    _ = pipe.read(1 << 20)
    connection.flush(at: 1006)
    #expect(connection.catchUpEnd(at: 1007) == 1011)
    while connection.unsent > 0 {
      _ = pipe.read(1 << 20)
      connection.flush(at: 1008)
    }
    #expect(connection.catchUpEnd(at: 1008) == nil)
  }

  @Test func noProgramIsHeldUpByASlowLink() throws {
    let pipe = try Reader()
    let connection = Attachment(
      id: 1, input: pipe.reader, output: pipe.writer, process: nil, agent: nil, at: 1000)
    connection.pieceSize.acknowledged(through: 1000, at: 1000)
    connection.pieceSize.acknowledged(through: 20_000, at: 1100)
    connection.queue(Self.bytes(2 << 20, from: 0))
    connection.flush(at: 1100)
    #expect(connection.unsent > 0 && connection.catchUpEnd(at: 1101) == nil)
  }
}
