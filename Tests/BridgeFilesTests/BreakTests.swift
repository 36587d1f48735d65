import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

/// What a break of the link leaves at both ends.
@Suite(.timeLimit(.minutes(5))) struct BreakTests {
  private static let meta = FileMeta(mode: 0o644, seconds: 1, nanoseconds: 0)

  /// One stream to a receiver that remembers nothing; it is cut after so many bytes, and what the
  /// receiver answers to the last of them is lost with it. True at the end of the copy.
  private func put(_ sender: FileSender, to target: String, cutAfter limit: Int) throws -> Bool {
    let receiver = FileReceiver(
      Array(target.utf8), name: nil, isRecursive: true, transfer: Identifier(high: 1, low: 2))
    defer {
      sender.disconnect()
      receiver.disconnect()
    }
    sender.connect(try receiver.connect(sender.point))
    var (parser, back) = (FileFrameParser(), FileFrameParser())
    var passed = 0
    while !sender.isFinished {
      let bytes = sender.next() ?? []
      let part = Array(bytes.prefix(limit - passed))
      passed += part.count
      parser.append(part)
      while let frame = try parser.next() { try receiver.take(frame) }
      let answer = receiver.takeOutbox(isIdle: true)
      if passed >= limit { return false }
      if bytes.isEmpty, answer.isEmpty { return false }
      back.append(answer)
      while let frame = try back.next() { try sender.take(frame) }
    }
    return true
  }

  /// However little each connection carries, the copy comes further.
  @Test func smallFilesComeForwardOverLinksThatCarryLittle() throws {
    let place = try Place()
    for index in 0..<60 { try place.write(Place.bytes(1000, seed: index), to: "t/f\(index)") }
    let sender = FileSender(Array(place.file("t").utf8), isRecursive: true, counts: false)
    var streams = 1
    while try !put(sender, to: place.file("u"), cutAfter: 8000), streams < 200 { streams += 1 }
    #expect(streams < 60, "\(sender.progress)")
    #expect(place.names("u").count == 60)
    for index in 0..<60 {
      #expect(place.read("u/f\(index)") == Place.bytes(1000, seed: index))
    }
  }

  @Test func aLargeFileComesForwardOverLinksThatCarryLessThanAFrame() throws {
    let place = try Place()
    let bytes = Place.bytes(300_000)
    try place.write(bytes, to: "t/f")
    let sender = FileSender(Array(place.file("t").utf8), isRecursive: true, counts: false)
    var streams = 1
    while try !put(sender, to: place.file("u"), cutAfter: 20_000), streams < 200 { streams += 1 }
    #expect(streams < 100)
    #expect(place.read("u/f") == bytes && place.names("u") == ["f"])
  }

  /// A host that sends remembers nothing of the link before, and a packet of SSH is verified whole:
  /// of one that is cut nothing arrives. True at the end of the copy.
  private func get(_ source: String, _ receiver: FileReceiver, cutAfter limit: Int) throws -> Bool {
    let packet = 32 << 10
    let sender = FileSender(Array(source.utf8), isRecursive: true)
    sender.connect(try receiver.connect())
    defer { receiver.disconnect() }
    var (parser, back, passed) = (FileFrameParser(), FileFrameParser(), 0)
    while !receiver.isFinished {
      var rest = (sender.next() ?? [])[...]
      while !rest.isEmpty {
        let next = Array(rest.prefix(packet))
        rest = rest.dropFirst(packet)
        passed += next.count
        guard passed <= limit else { return false }
        parser.append(next)
        while let frame = try parser.next() { try receiver.take(frame) }
      }
      back.append(receiver.takeOutbox(isIdle: true))
      while let frame = try back.next() { try sender.take(frame) }
    }
    return true
  }

  @Test(arguments: [(12_000, 150), (70_000, 20), (300_000, 6)])
  func aLargeFileOfAHostComesForwardOverLinksThatCarryLittle(limit: Int, most: Int) throws {
    let place = try Place()
    let bytes = Place.bytes(700_000)
    try place.write(bytes, to: "t/f")
    let receiver = FileReceiver(
      Array(place.file("u").utf8), name: nil, isRecursive: true,
      transfer: Identifier(high: 1, low: 2))
    var streams = 1
    while try !get(place.file("t"), receiver, cutAfter: limit), streams < 200 { streams += 1 }
    #expect(streams <= most)
    #expect(place.read("u/f") == bytes && place.names("u") == ["f"])
  }

  @Test func aFileThatIsNotWrittenIsNamedOnceAlsoAfterABreak() throws {
    let place = try Place()
    try place.write(Place.bytes(1_000_000), to: "t/f")
    try place.write([], to: "u/f/occupied")
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    // The refusal is lost with the stream.
    #expect(try copy.stream(cutAfter: 5000) == .cut)
    #expect(try copy.stream() == .finished)
    #expect(copy.faults == [.isDirectory])
  }

  @Test(arguments: ["removed", "unreadable"])
  func aPartWhoseSourceIsGoneIsRemoved(_ what: String) throws {
    let place = try Place()
    try place.write(Place.bytes(300_000), to: "t/a")
    try place.write([1], to: "t/z")
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream(cutAfter: 200_000) == .cut)
    #expect(place.names("u").contains { $0.hasPrefix(".bridge-copy-") })
    try FileManager.default.removeItem(atPath: place.file("t/a"))
    if what == "unreadable" { #expect(FileDetails.makePipe(place.file("t/a"))) }
    #expect(try copy.stream() == .finished)
    #expect(place.names("u") == ["z"])
  }

  @Test func aPartWhoseSourceIsGoneIsRemovedAtTheEndToo() throws {
    let place = try Place()
    try place.write([1], to: "t/a")
    try place.write(Place.bytes(300_000), to: "t/z")
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream(cutAfter: 200_000) == .cut)
    try FileManager.default.removeItem(atPath: place.file("t/z"))
    #expect(try copy.stream() == .finished)
    #expect(place.names("u") == ["a"])
  }

  /// A receiver that refuses a file while its data are on the way, and then the link is lost.
  @Test func aRefusalOfAnEarlierStreamIsForgotten() throws {
    let place = try Place()
    try place.write(Place.bytes(2_000_000), to: "a")
    let sender = FileSender(Array(place.file("a").utf8), isRecursive: false)
    sender.connect(FilePoint())
    _ = sender.next()
    try sender.take(.refused(entry: 0, FileFault(.unwritable)))
    sender.disconnect()
    sender.connect(FilePoint())
    var parser = FileFrameParser()
    parser.append(sender.next() ?? [])
    guard case .file? = try parser.next() else {
      Issue.record("A stream begins with its file.")
      return
    }
  }

  /// As by another run, between the creation of the part and its lock.
  @Test func aPartThatWasReplacedIsNotPutInPlace() throws {
    let place = try Place()
    let receiver = FileReceiver(
      Array(place.file("in").utf8), name: nil, isRecursive: true,
      transfer: Identifier(high: 1, low: 1))
    _ = try receiver.connect()
    let start = FileStart(name: [102], size: 3, offset: 0, meta: Self.meta, identity: [])
    try receiver.take(.directory(entry: 0, name: [], Self.meta))
    try receiver.take(.file(entry: 1, start))
    try receiver.take(.data(offset: 0, [1, 2, 3]))
    let part = try #require(place.names("in").first)
    try FileManager.default.removeItem(atPath: place.file("in/\(part)"))
    try place.write([9], to: "in/\(part)")
    let end = FileEnd(digest: FileHash.digest(of: [1, 2, 3]), hasChanged: false)
    try receiver.take(.end(size: 3, end))
    #expect(place.names("in") == [part] && place.read("in/\(part)") == [9])
  }

  /// The stream before, or an earlier copy (nil), has put a directory in its place, and its mode
  /// allows no new names. One of another time is the user's, and stays closed.
  @Test(arguments: [[[100], [97]], nil] as [FilePath?], [1, 2])
  func aDirectoryThatACopyClosedTakesMore(after: FilePath?, time: Int) throws {
    let place = try Place()
    try place.write([1], to: "in/d/a")
    FileDetails.setMode(place.file("in/d"), 0o555)
    FileDetails.setTime(place.file("in/d"), seconds: time, nanoseconds: 0)
    let receiver = FileReceiver(
      Array(place.file("in").utf8), name: nil, isRecursive: true,
      transfer: Identifier(high: 1, low: 1))
    var claim = FilePoint(after: after)
    claim.isInside = after == nil ? nil : true
    _ = try receiver.connect(after == nil ? nil : claim)
    let closed = FileMeta(mode: 0o555, seconds: 1, nanoseconds: 0)
    try receiver.take(.directory(entry: 0, name: [], Self.meta))
    try receiver.take(.directory(entry: 1, name: [100], closed))
    #expect(FileDetails.of(place.file("in/d"))[0] & 0o777 == (time == 1 ? 0o755 : 0o555))
    try receiver.take(.leave)
    #expect(FileDetails.of(place.file("in/d"))[0] & 0o777 == 0o555)
  }

  @Test func aFullDiskLeavesWhatIsInPlaceReported() throws {
    let place = try Place()
    try place.write([1], to: "t/a")
    try place.write([], to: "t/z")
    // More than any file system here has.
    FileDetails.setSize(place.file("t/z"), 1 << 43)
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .failed(.noSpace))
    let files = copy.sentEvents.filter { if case .copied = $0 { true } else { false } }
    #expect(files.count == 1, "\(copy.sentEvents)")
  }

  /// What the sender has sent meanwhile is of no use, and no other reason.
  @Test func theFirstFileWithoutSpaceIsTheReason() throws {
    let place = try Place()
    let receiver = FileReceiver(
      Array(place.file("in").utf8), name: nil, isRecursive: true,
      transfer: Identifier(high: 1, low: 1))
    _ = try receiver.connect()
    try receiver.take(.directory(entry: 0, name: [], Self.meta))
    for entry in UInt64(1)...2 {
      let name = [UInt8(96 + entry)]
      let start = FileStart(name: name, size: 1 << 60, offset: 0, meta: Self.meta, identity: [])
      try receiver.take(.file(entry: entry, start))
      try receiver.take(.skipped(entry: entry, name: [], FileFault(.shrank)))
    }
    #expect(receiver.failure?.path == [[97]])
  }
}
