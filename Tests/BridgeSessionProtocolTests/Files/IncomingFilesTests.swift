import BridgeSessionProtocol
import Testing

/// What a receiver takes from a sender, and what ends the stream.
@Suite struct IncomingFilesTests {
  private static let meta = FileMeta(mode: 0o644, seconds: 1, nanoseconds: 2)
  private static let state = [UInt8](repeating: 7, count: 32)

  private static func file(
    _ entry: UInt64, _ name: String, size: UInt64 = 3, from offset: UInt64 = 0
  ) -> FileFrame {
    .file(
      entry: entry,
      FileStart(
        name: Array(name.utf8), size: size, offset: offset, meta: meta, identity: []))
  }

  private static let top = FileFrame.directory(entry: 0, name: [], meta)
  private static let end = FileEnd(digest: state, hasChanged: false)

  /// The steps, or the error of the first frame that is refused.
  private func take(
    _ frames: [FileFrame], isRecursive: Bool = true, part: FilePoint.Part? = nil
  ) throws -> [IncomingFiles.Step] {
    var incoming = IncomingFiles(isRecursive: isRecursive, part: part)
    return try frames.compactMap { try incoming.take($0) }
  }

  @Test func aTreeIsTakenEntryByEntry() throws {
    let steps = try take([
      .totals(files: 1, bytes: 3), Self.top, .directory(entry: 1, name: [100], Self.meta),
      Self.file(2, "f"), .data(offset: 0, [1, 2, 3]), .end(size: 3, Self.end), .leave,
      .link(entry: 3, name: [108], target: [100]), .leave, .done(entries: 4),
    ])
    #expect(steps.count == 10)
    #expect(steps[2] == .directory(entry: 1, FileName([100]), Self.meta))
    #expect(steps.last == .done)
  }

  /// Lies about names: none of them becomes a step.
  @Test(arguments: ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\0"])
  func aNameThatLeadsElsewhereEndsTheStream(_ name: String) {
    let frames: [FileFrame] = [
      Self.file(1, name), .directory(entry: 1, name: Array(name.utf8), Self.meta),
      .link(entry: 1, name: Array(name.utf8), target: [97]),
    ]
    for frame in frames {
      #expect(throws: ProtocolError.self) { try take([Self.top, frame]) }
    }
  }

  @Test func theTopHasNoNameOfThePeersChoice() {
    #expect(throws: ProtocolError.self) { try take([Self.file(0, "x")]) }
    #expect(throws: ProtocolError.self) { try take([.directory(entry: 0, name: [97], Self.meta)]) }
  }

  @Test func aLinkThatLeadsOutIsReportedAndNotMade() throws {
    let steps = try take([Self.top, .link(entry: 1, name: [97], target: Array("../x".utf8))])
    guard case .missing(1, let path, let fault, false)? = steps.last else {
      Issue.record("\(steps)")
      return
    }
    #expect(path == [[97]] && fault.code == .unsafeLink)
  }

  /// Lies about lengths, offsets and order.
  @Test(arguments: [
    [file(0, ""), .data(offset: 0, [1, 2, 3, 4])],
    [file(0, ""), .data(offset: 1, [1])],
    [file(0, ""), .data(offset: 0, [1]), .data(offset: 0, [1])],
    [file(0, ""), .data(offset: 0, [1, 2]), .end(size: 2, end)],
    [file(0, ""), .data(offset: 0, [1, 2]), .end(size: 3, end)],
    [file(0, ""), .mark(offset: 64, state: state)],
    [file(0, ""), .done(entries: 1)], [file(0, ""), file(1, "")],
    [file(0, "", size: 100, from: 64)], [file(1, "")], [.data(offset: 0, [1])], [.leave],
    [top, .leave, top], [top, .leave, file(1, "a")], [top, .done(entries: 1)],
    [top, .leave, .done(entries: 9)], [top, .leave, .done(entries: 1), .leave],
    [.finished], [.ready(FilePoint())], [.acknowledge(entry: 0, bytes: 0)],
  ])
  func aFrameOutOfOrderEndsTheStream(_ frames: [FileFrame]) {
    #expect(throws: ProtocolError.self) { try take(frames) }
  }

  @Test func aDirectoryThatWasNotAskedForEndsTheStream() {
    #expect(throws: ProtocolError.self) { try take([Self.top], isRecursive: false) }
  }

  @Test func directoriesInsideEachOtherHaveALimit() {
    var incoming = IncomingFiles(isRecursive: true)
    #expect(throws: ProtocolError.self) {
      for entry in UInt64(0)...UInt64(FileLimits.depth) {
        let name = entry == 0 ? [] : [UInt8(97)]
        _ = try incoming.take(.directory(entry: entry, name: name, Self.meta))
      }
    }
    #expect(incoming.directory.count < FileLimits.depth)
  }

  @Test func aFileGoesOnOnlyWhereAPartOfItIs() throws {
    let part = FilePoint.Part(path: [], offset: 64, state: Self.state)
    let steps = try take([Self.file(0, "", size: 100, from: 64)], part: part)
    #expect(steps.count == 1)
    #expect(throws: ProtocolError.self) {
      try take([Self.file(0, "", size: 200, from: 128)], part: part)
    }
  }

  @Test func totalsComeOnce() throws {
    var files = IncomingFiles(isRecursive: true)
    _ = try files.take(.totals(files: 1, bytes: 1))
    #expect(throws: ProtocolError.self) { try files.take(.totals(files: 1, bytes: 1)) }
  }
}
