import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite struct JournalTests {
  final class Folder {
    let url: URL
    let directory: Directory

    init() throws {
      let id = Identifier(high: Machine.entropy(), low: Machine.entropy())
      url = FileManager.default.temporaryDirectory.appending(path: "bridge-journal-\(id)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      directory = try Directory(url.path)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  private func read(
    _ journal: Journal, from offset: UInt64, count: Int
  ) throws -> [(stream: ProgramStream, offset: UInt64, bytes: [UInt8])] {
    var parser = FrameParser()
    var pieces: [(stream: ProgramStream, offset: UInt64, bytes: [UInt8])] = []
    let end = min(offset + UInt64(count), journal.newest)
    var position = offset
    while position < end {
      guard case .bytes(let frames, _) = journal.piece(from: position, to: end) else { break }
      parser.append(frames)
      while case .output(let offset, let stream, let bytes)? = try parser.next() {
        #expect(offset == position)
        position += UInt64(bytes.count)
        pieces.append((stream, offset, bytes))
      }
    }
    return pieces
  }

  private func piece(_ seed: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: seed &* 31 &+ $0 &* 7) }
  }

  /// By a keeper that goes on, while another process reads what it has found.
  @Test func aSegmentThatWasSealedSinceItWasFoundIsRead() throws {
    let folder = try Folder()
    let journal = Journal(folder.directory)
    journal.append(.standardOutput, piece(1, 1000))
    let found = Journal(folder.directory)
    for seed in 2..<40 { journal.append(.standardOutput, piece(seed, 50_000)) }
    #expect(journal.segments.count > 1 && found.newest == 1000)
    #expect(try read(found, from: 0, count: 1000).flatMap(\.bytes) == piece(1, 1000))
  }

  @Test func aClientThatKeepsUpIsServedFromMemoryInFramesOfAnySize() throws {
    let folder = try Folder()
    let journal = Journal(folder.directory)
    journal.keepsNewest = true
    journal.append(.standardOutput, piece(1, 10))
    journal.append(.standardError, piece(2, 200_000))
    let name = try #require(journal.segments.first).dataName
    try Data().write(to: folder.url.appending(path: name))
    for (from, to) in [(10, 65_546), (65_546, 200_010), (10, 200_010), (77, 78)] {
      var parser = FrameParser()
      guard let frame = journal.newestFrame(from: UInt64(from), to: UInt64(to)) else {
        Issue.record("missing from \(from)")
        continue
      }
      parser.append(frame.header + frame.bytes)
      let expected = Array(piece(2, 200_000)[(from - 10)..<(to - 10)])
      #expect(
        try parser.next()
          == .output(offset: UInt64(from), stream: .standardError, bytes: expected))
    }
    #expect(journal.newestFrame(from: 9, to: 20) == nil)
    #expect(journal.newestFrame(from: 200_010, to: 200_020) == nil)
  }

  /// Short on a terminal, whose screen is found by tracking one from its start.
  @Test func segmentsAreAnEighthOfWhatIsKept() {
    #expect(Segment.length(.terminal, cap: 64 << 20) == 1 << 20)
    #expect(Segment.length(.pipes, cap: 256 << 20) == 8 << 20)
    #expect(Segment.length(.pipes, cap: 16 << 20) == 2 << 20)
    #expect(Segment.length(.pipes, cap: 1 << 20) == 1 << 20)
  }

  @Test func aJournalThatIsNotFullTakesOneMoreReadWithoutDroppingAny() {
    for size in [1, 4096, Journal.longestAppend] {
      var ring = MemoryRing(start: 7)
      while !ring.isFull { ring.append(.standardOutput, [UInt8](repeating: 1, count: size)) }
      #expect(ring.start == 7 && ring.end > 3 << 20)
    }
    // Nor where the streams alternate.
    var ring = MemoryRing(start: 7)
    var count = 0
    while !ring.isFull, count < 100_000 {
      ring.append(count.isMultiple(of: 2) ? .standardOutput : .standardError, [1])
      count += 1
    }
    #expect(ring.start == 7 && ring.end == 7 + UInt64(count))
  }

  @Test func streamsAndBytesComeBackFromAnyOffset() throws {
    let folder = try Folder()
    let journal = Journal(folder.directory)
    journal.append(.standardOutput, [1, 2, 3])
    journal.append(.standardError, [4])
    journal.append(.standardOutput, [5, 6])
    for journal in [journal, Journal(folder.directory)] {
      #expect(journal.newest == 6 && journal.oldest == 0)
      for start in UInt64(0)..<6 {
        let pieces = try read(journal, from: start, count: 100)
        #expect(pieces.flatMap(\.bytes) == Array([1, 2, 3, 4, 5, 6][Int(start)...]))
        #expect(pieces.first?.offset == start)
        #expect(pieces.last?.stream == .standardOutput)
      }
      #expect(try read(journal, from: 3, count: 1).map(\.stream) == [.standardError])
    }
  }

  @Test func segmentsFollowEachOtherAndOldOnesAreDroppedWhole() throws {
    let folder = try Folder()
    let journal = Journal(folder.directory)
    var whole: [UInt8] = []
    for turn in 0..<70 {
      let bytes = piece(turn, 60_000)
      whole += bytes
      journal.append(turn % 7 == 0 ? .standardError : .standardOutput, bytes)
    }
    #expect(journal.segments.count == 4)
    let middle = try read(journal, from: 1_000_000, count: 500_000).flatMap(\.bytes)
    #expect(middle == Array(whole[1_000_000..<1_500_000]))
    let oldest = journal.drop(below: 2_500_000)
    #expect(oldest > 1_000_000 && oldest <= 2_500_000)
    let rest = Journal(folder.directory)
    #expect(rest.oldest == oldest && rest.newest == UInt64(whole.count))
    let tail = try read(rest, from: oldest, count: whole.count).flatMap(\.bytes)
    #expect(tail == Array(whole[Int(oldest)...]))
  }

  @Test func aSegmentEndsWithTheChecksumOfItsBytes() throws {
    let folder = try Folder()
    let journal = Journal(folder.directory)
    let bytes = piece(1, 1003)
    journal.append(.terminal, Array(bytes[..<5]))
    journal.append(.terminal, Array(bytes[5...]))
    try journal.finish()
    let index = try Data(contentsOf: folder.url.appending(path: "idx.0000000000000000"))
    var checksum = Checksum()
    checksum.add(bytes)
    #expect(Array(index.suffix(16)) == checksum.bytes)
    var changed = bytes
    changed.swapAt(0, 8)
    var other = Checksum()
    other.add(changed)
    #expect(other.bytes != checksum.bytes)
  }

  @Test func aHalfWrittenIndexRecordIsNoRun() throws {
    let folder = try Folder()
    let journal = Journal(folder.directory)
    journal.append(.standardOutput, [1, 2])
    let index = folder.url.appending(path: "idx.0000000000000000")
    var data = try Data(contentsOf: index)
    data.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, 2, 1])
    try data.write(to: index)
    let pieces = try read(Journal(folder.directory), from: 0, count: 10)
    #expect(pieces.flatMap(\.bytes) == [1, 2])
  }

  @Test(.enabled(if: SmallDisk.canMount)) func onAFullDiskTheNewestOutputIsKeptInMemory() throws {
    let folder = try Folder()
    guard let disk = try SmallDisk(at: folder.url, size: "2m") else { return }
    let journal = Journal(try Directory(disk.path))
    var whole: [UInt8] = []
    for turn in 0..<40 {
      let bytes = piece(turn, 60_000)
      whole += bytes
      journal.append(.terminal, bytes)
    }
    #expect(journal.failure?.code == 28)
    #expect(journal.oldest == 0 && journal.newest == 2_400_000)
    #expect(try read(journal, from: 0, count: whole.count).flatMap(\.bytes) == whole)
    // More than memory holds: files are removed, which leaves one gap and space on the disk.
    for turn in 40..<130 {
      let bytes = piece(turn, 60_000)
      whole += bytes
      journal.append(.terminal, bytes)
    }
    #expect(journal.oldest > 2_400_000)
    let oldest = Int(journal.oldest)
    let kept = try read(journal, from: journal.oldest, count: whole.count).flatMap(\.bytes)
    #expect(kept == Array(whole[oldest...]))
    withExtendedLifetime(disk) {}
  }

  /// Another program has filled the disk.
  @Test(.enabled(if: SmallDisk.canMount)) func aFullDiskCostsNoMoreThanTheNewestOutputNeeds()
    throws
  {
    let folder = try Folder()
    guard let disk = try SmallDisk(at: folder.url, size: "12m") else { return }
    let journal = Journal(try Directory(disk.path))
    var whole: [UInt8] = []
    func append(_ turns: Range<Int>) {
      for turn in turns {
        let bytes = piece(turn, 60_000)
        whole += bytes
        journal.append(.terminal, bytes)
      }
    }
    append(0..<160)
    let ballast = try Directory(disk.path).create("ballast")
    var filled: UInt64 = 0
    while (try? ballast.write([UInt8](repeating: 0, count: 4096), at: filled)) != nil {
      filled += 4096
    }
    append(160..<260)
    // 6,000,000 bytes more: what memory does not hold, and a segment or two.
    #expect(journal.oldest > 0 && journal.oldest < 7 << 20)
    let kept = try read(journal, from: journal.oldest, count: whole.count).flatMap(\.bytes)
    let isWhole = kept == Array(whole[Int(journal.oldest)...])
    #expect(isWhole)
    withExtendedLifetime(disk) {}
  }

  /// The first bytes of a segment did not fit: the next segment begins where that did.
  @Test(.enabled(if: SmallDisk.canMount)) func aSegmentThatTookNothingLeavesItsNameToTheNext()
    throws
  {
    let folder = try Folder()
    guard let disk = try SmallDisk(at: folder.url, size: "2m") else { return }
    let journal = Journal(try Directory(disk.path))
    let ballast = try Directory(disk.path).create("ballast")
    var filled: UInt64 = 0
    while (try? ballast.write([UInt8](repeating: 0, count: 4096), at: filled)) != nil {
      filled += 4096
    }
    var whole = piece(1, 9_000)
    journal.append(.standardOutput, whole)
    #expect(journal.failure != nil)
    ballast.truncate(to: 0)
    #expect(journal.retry())
    for turn in 2..<40 {
      let bytes = piece(turn, 30_000)
      whole += bytes
      journal.append(.standardOutput, bytes)
      // As the keeper does after each read.
      #expect(journal.drop(below: 0) == 0)
    }
    for journal in [journal, Journal(try Directory(disk.path))] {
      #expect(journal.oldest == 0 && journal.newest == UInt64(whole.count))
      let isWhole = try read(journal, from: 0, count: whole.count).flatMap(\.bytes) == whole
      #expect(isWhole)
    }
    withExtendedLifetime(disk) {}
  }

  /// What was on disk and what comes after it are read from their own files.
  @Test(.enabled(if: SmallDisk.canMount)) func aDiskThatTakesOutputAgainLosesAndMixesNothing()
    throws
  {
    let folder = try Folder()
    guard let disk = try SmallDisk(at: folder.url, size: "2m") else { return }
    let journal = Journal(try Directory(disk.path))
    let ballast = try Directory(disk.path).create("ballast")
    try ballast.write([UInt8](repeating: 0, count: 1 << 20), at: 0)
    var whole: [UInt8] = []
    for turn in 0..<24 {
      let bytes = piece(turn, 60_000)
      whole += bytes
      journal.append(turn % 5 == 0 ? .standardError : .standardOutput, bytes)
    }
    #expect(journal.failure != nil && !journal.retry())
    ballast.truncate(to: 0)
    #expect(journal.retry())
    let more = piece(99, 20_000)
    whole += more
    journal.append(.standardOutput, more)
    for journal in [journal, Journal(try Directory(disk.path))] {
      #expect(journal.newest == UInt64(whole.count))
      #expect(try read(journal, from: 0, count: whole.count).flatMap(\.bytes) == whole)
    }
    withExtendedLifetime(disk) {}
  }
}
