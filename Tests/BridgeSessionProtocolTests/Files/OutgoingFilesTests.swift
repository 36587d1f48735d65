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

  /// How much of a file is sent before something is acknowledged.
  private func lead(_ files: inout OutgoingFiles) -> UInt64 {
    _ = files.begin(.init([[97], [99]], size: 1 << 30))
    var sent: UInt64 = 0
    while files.hasSpaceForMark {
      sent += 4096
      files.mark(at: sent, state(0))
    }
    return sent
  }

  /// The directories that lead to the next file are entered again, and answered at once.
  private func connect(_ files: inout OutgoingFiles) throws {
    _ = files.restart(at: FilePoint(after: [[97], [98]]))
    for path in [[], [[97]]] as [FilePath] {
      let number = files.begin(.init(path))
      _ = try files.acknowledge(number + 1, bytes: 0)
    }
  }

  /// Else a host that is slow with files gets more of them than a short link carries.
  @Test func answersToDirectoriesLetNoMoreBeUnderWay() throws {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97], [98]], size: 1))
    try connect(&files)
    #expect(lead(&files) <= 3 * 65536)
  }

  @Test func aStreamThatEndsAfterKnownDirectoriesIsFollowedByASmallerOne() throws {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97], [98]], size: 1))
    var sizes: [UInt64] = []
    for _ in 0..<3 {
      try connect(&files)
      sizes.append(lead(&files))
    }
    #expect(sizes == sizes.sorted(by: >) && (sizes.last ?? 0) <= 16_384, "\(sizes)")
    #expect(sizes.allSatisfy { $0 > 0 }, "nothing would be answered")
    // What arrives beyond that of the stream before lets more be under way.
    _ = try files.acknowledge(2, bytes: sizes.last ?? 0)
    var more: UInt64 = 0
    while files.hasSpaceForMark, more < 1 << 20 {
      more += 4096
      files.mark(at: (sizes.last ?? 0) + more, state(0))
    }
    #expect(more > 0)
  }

  /// Else half of what each link carries is without an answer when it breaks, and a file of that
  /// length never settled.
  @Test func aStreamAfterAShortOneSendsLittleAheadForAsLongAsItLasts() throws {
    var files = OutgoingFiles()
    _ = files.begin(.init([[97]], size: 1 << 30))
    for index in UInt64(1)...70 { files.mark(at: index * 4096, state(0)) }
    _ = files.restart(at: FilePoint())
    let number = files.begin(.init([[97]], size: 1 << 30))
    var (sent, acknowledged) = (UInt64(0), UInt64(0))
    while sent < 70 * 4096 {
      guard files.hasSpaceForMark else {
        acknowledged = sent
        _ = try files.acknowledge(number, bytes: sent)
        continue
      }
      sent += 4096
      files.mark(at: sent, state(0))
      #expect(sent - acknowledged <= 18 * 4096)
    }
  }

  @Test func entriesUnderWayHaveALimit() throws {
    var files = OutgoingFiles()
    while files.hasSpaceForEntry { _ = files.begin(.init([[97]], size: 1)) }
    #expect(files.next == UInt64(FileLimits.entries))
    _ = try files.acknowledge(1, bytes: 0)
    #expect(files.hasSpaceForEntry)
    while files.hasSpaceForMark { files.mark(at: 64, state(0)) }
  }

  /// The end of a file takes long on a host without `bridge-host`: a link that breaks after as much
  /// each time would be over before the answer each time.
  @Test func aStreamThatBroughtNothingIsFollowedByASmallerOneHoweverMuchWasAcknowledged() throws {
    var files = OutgoingFiles()
    var bursts: [UInt64] = []
    for _ in 0..<8 {
      _ = files.restart(at: FilePoint(after: [[97]]))
      let number = files.begin(.init([[98]], size: 1 << 20))
      var (sent, burst) = (UInt64(0), nil as UInt64?)
      while sent < 150_000 {
        while files.hasSpaceForMark, sent < 150_000 {
          sent += 4096
          files.mark(at: sent, state(0))
        }
        burst = burst ?? sent
        _ = try files.acknowledge(number, bytes: sent)
      }
      bursts.append(burst ?? 0)
    }
    #expect(Array(bursts.dropFirst(1)) == bursts.dropFirst(1).sorted(by: >), "\(bursts)")
    #expect((bursts.last ?? 0) <= 2 * 4352, "\(bursts)")
  }
}
