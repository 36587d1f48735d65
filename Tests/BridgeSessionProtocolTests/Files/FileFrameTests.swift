import BridgeSessionProtocol
import Testing

/// Frames as bytes and back, and headers that are refused.
@Suite struct FileFrameTests {
  private static let meta = FileMeta(mode: 0o7755, seconds: -5, nanoseconds: 999_999_999)
  private static let state = (0..<32).map { UInt8($0) }

  private static func request() -> FileRequest {
    var request = FileRequest(
      .put, path: [0xFF, 47, 10], transfer: Identifier(high: 1, low: 2))
    request.name = [1]
    request.isRecursive = true
    var point = FilePoint(
      after: [[97], [98]],
      part: .init(path: [[99]], offset: 1 << 40, state: state, identity: [1, 2]), boot: [9])
    point.isInside = true
    request.point = point
    return request
  }

  private static func excluding() -> FileRequest {
    var request = FileRequest(.get, path: [97], transfer: Identifier(high: 1, low: 2))
    request.isRecursive = true
    request.exclusion = FileExclusion([Array("*.o".utf8), [255, 47]]) ?? .none
    return request
  }

  private static let frames: [FileFrame] = [
    .open(request()), .open(excluding()), .ready(FilePoint()), .ready(FilePoint(after: [])),
    .acknowledge(entry: 5, bytes: 1 << 40), .refused(entry: 1, FileFault(.isDirectory, "x")),
    .totals(files: 1, bytes: 2), .directory(entry: 0, name: [], meta), .leave,
    .file(
      entry: 7,
      FileStart(name: [255], size: 1 << 62, offset: 64, meta: meta, identity: [1, 2, 3])),
    .link(entry: 1, name: [97], target: [98, 47]), .data(offset: 1 << 33, [1, 2, 3]),
    .mark(offset: 64, state: state),
    .end(size: 9, FileEnd(digest: state, hasChanged: true)),
    .end(size: 9, FileEnd(digest: nil, hasChanged: false)),
    .skipped(entry: 1, name: [1, 2], FileFault(.noSpace, space: .init(required: 2, available: 1))),
    .done(entries: 3), .finished, .failed(FileFault(.violation, "why")),
  ]

  @Test func everyFrameIsReadAsItWasWritten() throws {
    for size in [1, 7, 4096] {
      var parser = FileFrameParser()
      var read: [FileFrame] = []
      let bytes = Self.frames.flatMap(\.encoded)
      for start in stride(from: 0, to: bytes.count, by: size) {
        parser.append(Array(bytes[start..<min(bytes.count, start + size)]))
        while let frame = try parser.next() { read.append(frame) }
      }
      #expect(read == Self.frames && parser.isAtBoundary)
    }
  }

  /// What would give rights is not passed on.
  @Test func aModeHasNineBitsAndTheStickyOne() { #expect(Self.meta.mode == 0o1755) }

  @Test func everyCutOffPayloadIsRefusedOrWaitedFor() {
    for frame in Self.frames {
      let bytes = frame.encoded
      for count in 16..<bytes.count {
        // A shorter payload with its own length.
        var cut = Array(bytes[..<count])
        let length = UInt32(count - 16)
        for index in 0..<4 {
          cut[4 + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
        var parser = FileFrameParser()
        parser.append(cut)
        // Any result but a crash, and never a longer frame than there are bytes.
        _ = try? parser.next()
      }
    }
  }

  @Test(arguments: [
    // An unknown kind, reserved bytes, too long, too short, an offset beyond 2^63.
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [10, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    [10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [10, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0, 0, 0, 0, 0, 0, 0],
  ])
  func aHeaderThatBreaksARuleIsRefusedBeforeItsPayload(_ header: [UInt8]) {
    var parser = FileFrameParser()
    parser.append(header)
    #expect(throws: ProtocolError.self) { try parser.next() }
  }
}
