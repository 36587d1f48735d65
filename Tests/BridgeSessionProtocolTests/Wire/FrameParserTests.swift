import BridgeSessionProtocol
import Testing

@Suite struct FrameParserTests {
  private func frames(in bytes: some Sequence<UInt8>) throws -> [Frame] {
    var parser = FrameParser()
    parser.append(bytes)
    return try parser.drain()
  }

  private func header(
    type: UInt8, stream: UInt8 = 0, reserved: [UInt8] = [0, 0], length: UInt32, offset: UInt64 = 0
  ) -> [UInt8] {
    let length = (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * $0)) }
    let offset = (0..<8).map { UInt8(truncatingIfNeeded: offset >> UInt64(56 - 8 * $0)) }
    return [type, stream] + reserved + length + offset
  }

  @Test(arguments: Sample.frames) func everyFrameIsReadAsItWasWritten(_ frame: Frame) throws {
    #expect(try frames(in: frame.encoded) == [frame])
    #expect(frame.encoded.count >= Limits.headerLength)
    #expect(frame.encoded[0] == frame.type.rawValue)
  }

  @Test func everyTypeHasASample() {
    #expect(Set(Sample.frames.map(\.type)) == Set(FrameType.allCases))
  }

  @Test func aStreamCutAtAnyByteGivesTheSameFrames() throws {
    let bytes = Sample.frames.flatMap(\.encoded)
    for cut in 0...bytes.count {
      var parser = FrameParser()
      parser.append(bytes[..<cut])
      var found = try parser.drain()
      parser.append(bytes[cut...])
      found += try parser.drain()
      #expect(found == Sample.frames, "cut at \(cut)")
      #expect(parser.isAtBoundary)
    }
  }

  @Test func aStreamGivenByteByByteGivesTheSameFrames() throws {
    var parser = FrameParser()
    var found: [Frame] = []
    for byte in Sample.frames.flatMap(\.encoded) {
      parser.append(CollectionOfOne(byte))
      found += try parser.drain()
    }
    #expect(found == Sample.frames)
  }

  /// Output that comes in parts is the same output, wherever it is cut.
  @Test func outputIsSplitWhereItIsCutAndNowhereElse() throws {
    let bytes = Sample.frames.flatMap(\.encoded)
    for cut in 0...bytes.count {
      var parser = FrameParser(splitsOutput: true)
      parser.append(bytes[..<cut])
      let before = try parser.drain()
      let isInside = !parser.isAtBoundary
      parser.append(bytes[cut...])
      let after = try parser.drain()
      #expect((before + after).bytewise == Sample.frames.bytewise, "cut at \(cut)")
      #expect(parser.isAtBoundary)
      let ends = Sample.frames.map(\.encoded.count).reduce(into: [0]) { $0.append($0.last! + $1) }
      #expect(isInside == !ends.contains(cut), "cut at \(cut)")
    }
  }

  @Test func nothingOfOutputWaitsForItsRest() throws {
    var parser = FrameParser(splitsOutput: true)
    let frame = Frame.output(offset: 7, stream: .standardError, bytes: [1, 2, 3, 4, 5])
    var found: [Frame] = []
    for byte in frame.encoded {
      parser.append(CollectionOfOne(byte))
      found += try parser.drain()
      #expect(parser.buffered < Limits.headerLength)
    }
    #expect(
      found
        == (0..<5).map {
          .output(offset: 7 + UInt64($0), stream: .standardError, bytes: [UInt8($0) + 1])
        })
    #expect(parser.isAtBoundary)
  }

  @Test func everyBitOfAHeaderThatFlipsIsAnErrorOrAnotherHeaderNeverTheSame() {
    for frame in Sample.frames {
      let bytes = frame.encoded
      for bit in 0..<(Limits.headerLength * 8) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        var parser = FrameParser()
        parser.append(flipped)
        let found = (try? parser.drain()) ?? []
        #expect(found.first != frame, "bit \(bit) of \(frame.type) was not noticed")
        #expect(parser.buffered <= flipped.count)
      }
    }
  }

  @Test func everyBitOfAHeaderCounts() throws {
    for frame in Sample.frames {
      let bytes = Array(frame.encoded[..<Limits.headerLength])
      let header = try FrameHeader(bytes[...])
      for bit in 0..<(Limits.headerLength * 8) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let other = try? FrameHeader(flipped[...]), other.type != nil else { continue }
        #expect(other != header)
      }
    }
  }

  @Test func reservedBytesMustBeZero() {
    #expect(throws: ProtocolError.reservedNotZero(type: 10)) {
      try frames(in: header(type: 10, reserved: [0, 1], length: 0))
    }
    #expect(throws: ProtocolError.reservedNotZero(type: 200)) {
      try frames(in: header(type: 200, reserved: [1, 0], length: 0))
    }
  }

  @Test(arguments: [UInt8(0), 14, 99, 127])
  func anUnknownTypeBelow128EndsTheStream(_ type: UInt8) {
    #expect(throws: ProtocolError.unknownFrame(type: type)) {
      try frames(in: header(type: type, length: 0))
    }
  }

  @Test(arguments: [UInt8(129), 200, 255])
  func anUnknownTypeFrom128IsSkippedWithoutBeingStored(_ type: UInt8) throws {
    var parser = FrameParser()
    parser.append(header(type: type, stream: 7, length: Limits.payload, offset: UInt64.max))
    var left = Int(Limits.payload)
    let piece = [UInt8](repeating: 0xA5, count: 64 << 10)
    while left > 0 {
      parser.append(piece.prefix(left))
      left -= piece.count
      #expect(try parser.next() == nil)
      #expect(parser.buffered == 0)
    }
    parser.append(Frame.ping(1).encoded)
    #expect(try parser.drain() == [.ping(1)])
  }

  @Test(arguments: FrameType.allCases)
  func aLengthBeyondItsTypeIsRefusedBeforeThePayloadComes(_ type: FrameType) {
    let stream: UInt8 = type == .output ? 1 : 0
    for length in [type.lengths.upperBound + 1, 1 << 31, UInt32.max] {
      let bytes = header(type: type.rawValue, stream: stream, length: length)
      #expect(throws: ProtocolError.frameTooLong(type: type.rawValue, length: length)) {
        try frames(in: bytes)
      }
    }
    guard type.lengths.lowerBound > 0 else { return }
    let length = type.lengths.lowerBound - 1
    #expect(throws: ProtocolError.wrongLength(type: type.rawValue, length: length)) {
      try frames(in: header(type: type.rawValue, stream: stream, length: length))
    }
  }

  @Test func anUnknownTypeIsNotSkippedBeyondTheLongestPayload() {
    #expect(throws: ProtocolError.frameTooLong(type: 200, length: Limits.payload + 1)) {
      try frames(in: header(type: 200, length: Limits.payload + 1))
    }
  }

  @Test(arguments: [1 << 63, (1 << 63) + 1, UInt64.max] as [UInt64])
  func anOffsetFrom2To63OnIsRefused(_ offset: UInt64) {
    let types: [(FrameType, UInt32, UInt8)] = [
      (.output, 1, 1), (.gap, 8, 0), (.input, 1, 0), (.acknowledge, 8, 0), (.control, 1, 0),
      (.ended, 8, 0),
    ]
    for (type, length, stream) in types {
      let bytes = header(type: type.rawValue, stream: stream, length: length, offset: offset)
      #expect(throws: ProtocolError.offsetTooLarge(type: type.rawValue, offset: offset)) {
        try frames(in: bytes)
      }
    }
  }

  @Test func bytesMayNotReachTo2To63() {
    let offset = Limits.offset - 4
    #expect(throws: ProtocolError.offsetTooLarge(type: 6, offset: offset)) {
      try frames(in: header(type: 6, length: 4, offset: offset))
    }
    #expect(throws: Never.self) {
      try frames(in: header(type: 6, length: 3, offset: offset) + [1, 2, 3])
    }
  }

  @Test func aGapGoesForward() {
    for to in [UInt64(5), 10, 1 << 63, UInt64.max] {
      #expect(throws: ProtocolError.offsetTooLarge(type: 5, offset: to)) {
        try frames(in: Frame.gap(from: 10, to: to).encoded)
      }
    }
  }

  @Test func aSettledOffsetFrom2To63OnIsRefused() {
    #expect(throws: ProtocolError.offsetTooLarge(type: 7, offset: 1 << 63)) {
      try frames(in: Frame.acknowledge(through: 1, settled: 1 << 63).encoded)
    }
  }

  @Test func onlyOutputHasAStream() {
    for stream in [UInt8(0), 4, 255] {
      #expect(throws: ProtocolError.wrongStream(type: 4, stream: stream)) {
        try frames(in: header(type: 4, stream: stream, length: 1) + [0])
      }
    }
    #expect(throws: ProtocolError.wrongStream(type: 6, stream: 1)) {
      try frames(in: header(type: 6, stream: 1, length: 1) + [0])
    }
  }

  @Test func anErrorStaysAndHoldsNothing() {
    var parser = FrameParser()
    parser.append(Frame.ping(1).encoded + header(type: 99, length: 0) + [1, 2, 3])
    #expect(throws: Never.self) { try parser.next() }
    for _ in 0..<3 {
      #expect(throws: ProtocolError.unknownFrame(type: 99)) { try parser.next() }
      parser.append(Frame.ping(2).encoded)
    }
    #expect(parser.buffered == 0)
  }

  @Test func aMillionTinyFramesNeedNoMemory() throws {
    var chunk: [UInt8] = []
    for _ in 0..<1000 { chunk += Frame.ping(7).encoded }
    var parser = FrameParser()
    var count = 0
    for turn in 0..<1000 {
      // Cut at another byte each time.
      parser.append(chunk[..<(turn % 16)])
      while try parser.next() != nil { count += 1 }
      parser.append(chunk[(turn % 16)...])
      while try parser.next() != nil { count += 1 }
      #expect(parser.buffered == 0)
    }
    #expect(count == 1_000_000)
  }

  @Test(arguments: UInt64(0)..<200) func randomBytesAreFramesOrATypedError(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var parser = FrameParser()
    for _ in 0..<50 {
      // Half of the bytes are small, so that headers are often nearly right.
      let bytes = (0..<generator.upTo(64)).map { _ in
        generator.oneIn(2) ? UInt8(generator.upTo(13)) : UInt8(generator.upTo(255))
      }
      parser.append(bytes)
      while let frame = try? parser.next() { #expect(frame.encoded.count >= 16) }
      #expect(parser.buffered <= 50 * 64)
    }
  }

  @Test(arguments: UInt64(0)..<100) func damagedFramesAreFramesOrATypedError(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for frame in Sample.frames {
      var bytes = frame.encoded
      for _ in 0...generator.upTo(3) {
        bytes[generator.upTo(bytes.count - 1)] = UInt8(generator.upTo(255))
      }
      var parser = FrameParser()
      parser.append(bytes)
      guard let read = try? parser.next() else { continue }
      // What was read can be written and read again.
      #expect((try? frames(in: read.encoded)) == [read])
    }
  }
}
