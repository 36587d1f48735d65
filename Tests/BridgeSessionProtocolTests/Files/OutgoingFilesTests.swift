import BridgeSessionProtocol
import Testing

/// What a sender knows of what arrived.
@Suite struct OutgoingFilesTests {
  private func state(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

  @Test func aFileGoesOnAtTheLastMarkThatWasAcknowledged() throws {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97]]))
    let number = files.begin(.init([[98]], size: 1000, identity: [1]))
    files.mark(at: 256, state(1))
    files.mark(at: 512, state(2))
    files.mark(at: 768, state(3))
    #expect(try files.acknowledge(number, bytes: 512).map(\.path) == [[[97]]])
    #expect(files.point.after == [[97]])
    #expect(
      files.point.part == .init(path: [[98]], offset: 512, state: state(2), identity: [1]))
  }

  @Test func aFileWhoseEndWasNotHeardOfIsSettledByTheNextStream() throws {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97]], size: 5))
    files.end(state(1), hasChanged: false)
    #expect(files.restart(at: FilePoint(after: [[97]]))?.path == [[97]])
    #expect(files.isEmpty && files.after == [[97]])
    // The same answer again settles nothing twice.
    #expect(files.restart(at: FilePoint(after: [[97]])) == nil)
  }

  @Test(arguments: [(9, 0), (1, 1), (0, 6), (2, 0)] as [(UInt64, UInt64)])
  func whatWasNotSentCannotBeAcknowledged(_ entry: UInt64, _ bytes: UInt64) {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97]], size: 5))
    #expect(throws: ProtocolError.self) { try files.acknowledge(entry, bytes: bytes) }
  }

  @Test func anAcknowledgementNeverGoesBack() throws {
    var files = OutgoingFiles()
    for name in UInt8(97)...99 { _ = files.begin(.init([[name]], size: 5)) }
    _ = try files.acknowledge(2, bytes: 0)
    #expect(throws: ProtocolError.self) { try files.acknowledge(1, bytes: 0) }
  }

  /// A stream that ends before the first answer brings nothing forward.
  @Test func aStreamAfterABreakBeginsWithLittleAndMoreWithEachAnswer() throws {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97]], size: 1 << 30))
    for index in UInt64(1)...50 { files.mark(at: index * 65536, state(0)) }
    #expect(files.hasSpaceForMark)
    _ = files.restart(at: FilePoint())
    let number = files.begin(.init([[97]], size: 1 << 30))
    var sent: UInt64 = 0
    while files.hasSpaceForMark {
      sent += 65536
      files.mark(at: sent, state(0))
    }
    #expect(sent <= 3 * 65536)
    _ = try files.acknowledge(number, bytes: sent)
    var more: UInt64 = 0
    while files.hasSpaceForMark {
      more += 65536
      files.mark(at: sent + more, state(0))
    }
    #expect(more > sent)
  }

  @Test func entriesUnderWayHaveALimit() throws {
    var files = OutgoingFiles()
    while files.hasSpaceForEntry { _ = files.begin(.init([[97]], size: 1)) }
    #expect(files.next == UInt64(FileLimits.entries))
    _ = try files.acknowledge(1, bytes: 0)
    #expect(files.hasSpaceForEntry)
    while files.hasSpaceForMark { files.mark(at: 64, state(0)) }
  }
}
