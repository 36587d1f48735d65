import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Short output is sent before it is written, and lost by nothing but the end of the keeper.
@Suite struct PendingOutputTests {
  private func journal(
    in directory: Directory, segmentLength: UInt64 = Segment.shortest
  ) -> Journal {
    let journal = Journal(directory, segmentLength: segmentLength)
    journal.append(.terminal, Array("prompt ".utf8))
    journal.keepsNewest = true
    return journal
  }

  private func text(of journal: Journal) -> String {
    String(decoding: journal.tail(from: 0, to: journal.newest).bytes, as: UTF8.self)
  }

  @Test func itIsServedAtOnceAndWrittenLater() throws {
    let folder = try JournalTests.Folder()
    let journal = journal(in: folder.directory)
    journal.append(.terminal, [UInt8(ascii: "k")])
    #expect(journal.isPending && journal.newest == 8)
    #expect(journal.newestFrame(from: 7, to: 8)?.bytes == [UInt8(ascii: "k")])
    #expect(Journal(folder.directory).newest == 7)
    journal.settle()
    #expect(!journal.isPending && text(of: Journal(folder.directory)) == "prompt k")
  }

  @Test(arguments: ["append", "read", "finish"])
  func whateverComesNextWritesItFirst(next: String) throws {
    let folder = try JournalTests.Folder()
    let journal = journal(in: folder.directory)
    journal.append(.terminal, Array("first ".utf8))
    switch next {
    case "append":
      journal.append(.terminal, Array("second".utf8))
      #expect(text(of: Journal(folder.directory)) == "prompt first ")
      journal.settle()
    case "read": #expect(text(of: journal) == "prompt first ")
    default: try journal.finish()
    }
    #expect(!journal.isPending && text(of: Journal(folder.directory)) == text(of: journal))
  }

  @Test func longOutputAndOutputThatIsNotSentAreWrittenAtOnce() throws {
    let folder = try JournalTests.Folder()
    let journal = journal(in: folder.directory)
    journal.append(.terminal, [UInt8](repeating: 1, count: Journal.longestPending + 1))
    #expect(!journal.isPending)
    journal.keepsNewest = false
    journal.append(.terminal, [2])
    #expect(!journal.isPending && Journal(folder.directory).newest == journal.newest)
  }

  /// The modes in front of a segment are those before its first byte.
  @Test func theFirstOutputOfASegmentIsWrittenAtOnce() throws {
    let folder = try JournalTests.Folder()
    let journal = journal(in: folder.directory, segmentLength: 8)
    var modes: [UInt8] = []
    journal.modes = { modes }
    for key in UInt8(1)...40 {
      let count = journal.segments.count
      modes = [key]
      journal.append(.terminal, [key])
      if journal.segments.count > count {
        #expect(!journal.isPending)
        #expect(journal.segments.last.map { journal.modes(of: $0) } == [key])
      }
    }
    #expect(journal.segments.count == 6)
  }
}

/// What a client has of a keeper that was killed before it wrote that.
@Suite struct DeadKeeperTests {
  @Test func aClientThatHasMoreThanTheJournalGetsTheEndAndIsNotRefused() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo begun; sleep 1000")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "begun\n" }
    try bench.killKeeper(of: spec.session)
    client.cut()
    let name = Segment(start: 0).dataName
    try Directory(bench.place(of: spec.session)).open(name, O_RDWR).truncate(to: 3)
    try client.connect()
    try client.pump { $0.end != nil || $0.refusal != nil }
    #expect(client.refusal == nil && client.end == .orphaned)
    #expect(client.text == "begun\n" && client.gaps.isEmpty)
    client.cut()
    let other = try bench.attach(spec.session)
    try other.pump { $0.end != nil }
    #expect(other.text == "beg" && other.end == .orphaned)
  }
}
