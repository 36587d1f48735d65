import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

/// Which run writes a file that several streams carry: runs that come and go, and take over.
@Suite(.timeLimit(.minutes(5))) struct StripedOwnerTests {
  private static let unit = Int(FileStripe.unit)

  /// A run that took the part over in between may have written anything.
  @Test func whatAnotherRunTookOverIsNotCompleted() throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in first.streams.indices { _ = try first.streams[index].stream() }
    first.end()
    try place.write(Place.bytes(2 * Self.unit, seed: 50), to: "a")
    var other = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    _ = try other.streams[0].stream(cutAfter: 200_000)
    #expect(throws: FileFault(.busy)) { try first.join() }
    #expect(place.read("b") == nil)
  }

  /// Nor does a stream of the first run go on as if nothing had happened.
  @Test func aStreamWhosePartWasTakenOverComparesItsBytes() throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    #expect(try first.streams[0].stream(cutAfter: Self.unit + 900_000) == .cut)
    try place.write(Place.bytes(4 * Self.unit, seed: 50), to: "c")
    var other = StripedCopy(
      place.file("c"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    #expect(try other.streams[0].stream(cutAfter: 300_000) == .cut)
    #expect(try first.streams[0].stream() == .finished)
    #expect(try first.streams[1].stream() == .finished)
    try first.join()
    #expect(place.read("b") == bytes)
  }

  /// All streams of the next run wait for the one that has the part: the first of them that gets it
  /// has it for the others, too.
  @Test func aRunThatWaitedHasThePartForAllOfItsStreams() throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit)
    let (from, to, run) = (place.file("a"), place.file("b"), Identifier(high: 7, low: 8))
    let holder = SharedCopy(try holder(from, to))
    var second = StripedCopy(from, to: to, count: 2, run: run)
    second.streams[1].receiver.displace = { _, mayEnter in
      holder.disconnect(0)
      let other = StripedCopy(from, to: to, count: 2, run: run)
      _ = try? other.streams[0].receiver.connect()
      return withExtendedLifetime(other) { mayEnter() }
    }
    _ = try second.streams[1].receiver.connect()
    for index in second.streams.indices { second.streams[index].receiver.disconnect() }
    for index in second.streams.indices {
      second.restart(index, salt: 9)
      #expect(try second.streams[index].stream() == .finished)
    }
    try second.join()
    #expect(place.read("b") == bytes)
  }

  /// A run that has written, and has the part.
  private func holder(_ from: String, _ to: String) throws -> sending StripedCopy {
    var copy = StripedCopy(from, to: to, count: 2)
    #expect(try copy.streams[0].stream(cutAfter: 300_000) == .cut)
    _ = try copy.streams[0].receiver.connect()
    return copy
  }

  /// As on a host, where each channel has a process of its own.
  @Test(arguments: [100, FileLimits.data + 500, unit + 700_000])
  func anotherProcessGoesOnWhereTheLastOneWas(limit: Int) throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit + 77)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices {
      #expect(try copy.streams[index].stream(cutAfter: limit) == .cut)
      copy.restart(index, salt: 9)
      #expect(try copy.streams[index].stream() == .finished)
      #expect(copy.streams[index].sent < 2 * Self.unit + 2 * FileLimits.data)
    }
    try copy.join()
    #expect(place.read("b") == bytes)
  }

  /// Another run wrote in between, and is over: nothing of what was acknowledged is believed.
  @Test func anotherProcessBelievesNothingThatAnotherRunMayHaveWritten() throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit)
    try place.write(Place.bytes(4 * Self.unit, seed: 50), to: "c")
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices {
      #expect(try copy.streams[index].stream(cutAfter: Self.unit + 900_000) == .cut)
    }
    var other = StripedCopy(
      place.file("c"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    for index in other.streams.indices {
      #expect(try other.streams[index].stream(cutAfter: 300_000) == .cut)
    }
    // The first of them takes the part over again; the second one finds its own run there.
    for index in copy.streams.indices {
      copy.restart(index, salt: 9)
      #expect(try copy.streams[index].stream() == .finished)
    }
    try copy.join()
    #expect(place.read("b") == bytes)
  }

  @Test func whatWasTakenOverAndBackIsNotCompleted() throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices { _ = try copy.streams[index].stream() }
    copy.end()
    let other = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    _ = try other.streams[0].receiver.connect()
    other.streams[0].receiver.disconnect()
    // A late process of the first run.
    let late = FileReceiver(
      Array(place.file("b").utf8), name: nil, isRecursive: false,
      transfer: Identifier(high: 1, low: 2),
      striping: .init(
        try #require(FileStripe(0, of: 2)), run: copy.run, salt: Identifier(high: 9, low: 9)))
    _ = try late.connect()
    late.disconnect()
    #expect(throws: FileFault(.busy)) { try copy.join() }
    // Nor is a stream believed that was whole before.
    copy.restart(1, salt: 10)
    #expect(throws: FileFault(.busy)) { _ = try copy.streams[1].stream() }
  }

  /// The last block of the file system has bytes that were never written.
  @Test func aBlockThatIsWrittenInPartIsLeftOutOfTheComparison() throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    _ = try first.streams[1].stream()
    first.end()
    let part = try #require(place.names("").first { $0.hasSuffix(".2") })
    let file = try FileHandle(forWritingTo: URL(filePath: place.file(part)))
    try file.write(contentsOf: bytes.prefix(1_000_100))
    try file.close()
    var second = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    for index in second.streams.indices { _ = try second.streams[index].stream() }
    #expect(second.streams[0].sent < 2 * Self.unit - 900_000 + FileLimits.data)
    try second.join()
    #expect(place.read("b") == bytes)
  }

  /// As long as a stream of a run is open, no other run writes.
  @Test func twoRunsDoNotWriteAtOnce() throws {
    let (place, _) = try StripedCopy.place(size: Self.unit)
    let first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    _ = try first.streams[0].receiver.connect()
    let other = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    #expect(throws: FileFault(.busy)) { _ = try other.streams[1].receiver.connect() }
    first.streams[0].receiver.disconnect()
    _ = try other.streams[1].receiver.connect()
    other.streams[1].receiver.disconnect()
    // It has written nothing.
    #expect(place.names("") == ["a"])
  }

  /// Streams that are whole keep the part until it has its name: no other run may take it over.
  @Test func aRunWhoseStreamsAreWholeIsNotOvertaken() throws {
    let (place, bytes) = try StripedCopy.place(size: 2 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    #expect(try first.streams[0].stream() == .finished)
    let other = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    #expect(throws: FileFault(.busy)) { _ = try other.streams[0].receiver.connect() }
    #expect(try first.streams[1].stream() == .finished)
    #expect(throws: FileFault(.busy)) { _ = try other.streams[0].receiver.connect() }
    try first.join()
    first.end()
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
  }

  /// One stream has given up, and another one is late: what that still brings goes nowhere, and as
  /// long as it is there no other run writes.
  @Test func aLateStreamOfARunThatGaveUpWritesIntoNoOtherPart() throws {
    let (place, bytes) = try StripedCopy.place(size: 3 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    let late = first.streams[1]
    late.sender.connect(try late.receiver.connect())
    var count = 0
    _ = try first.streams[0].stream { bytes in
      count += 1
      if count == 3 { bytes[5000] ^= 1 }
    }
    #expect(first.streams[0].faults == [.mismatch])
    var second = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    #expect(throws: FileFault(.busy)) { _ = try second.streams[0].receiver.connect() }
    // Nor does another stream of the first run begin.
    first.restart(0, salt: 11)
    #expect(throws: FileFault(.busy)) { _ = try first.streams[0].receiver.connect() }
    var parser = FileFrameParser()
    parser.append(late.sender.next() ?? [])
    while let frame = try parser.next() { try late.receiver.take(frame) }
    late.receiver.disconnect()
    #expect(place.names("") == ["a"])
    for index in second.streams.indices { _ = try second.streams[index].stream() }
    try second.join()
    second.end()
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
  }

  /// Its other stream is whole already: a new part would have a hole in place of that.
  @Test(arguments: [false, true])
  func aPartThatIsRemovedIsNotBegunAnew(isReplaced: Bool) throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    #expect(try copy.streams[0].stream() == .finished)
    #expect(try copy.streams[1].stream(cutAfter: 300_000) == .cut)
    let part = try #require(place.names("").first { $0.hasSuffix(".2") })
    try FileManager.default.removeItem(atPath: place.file(part))
    if isReplaced { try place.write(Place.bytes(2 * Self.unit, seed: 3), to: part) }
    #expect(throws: FileFault(.busy)) { _ = try copy.streams[1].stream() }
    #expect(throws: FileFault.self) { try copy.join() }
    copy.end()
    // What is not the part of this run stays.
    #expect(place.names("").filter { $0 != part } == ["a"])
    #expect((place.read(part) != nil) == isReplaced)
  }

  /// The same where no stream is left that could remove what there is.
  @Test func aPartThatIsRemovedBetweenTheStreamsLeavesNothing() throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices {
      #expect(try copy.streams[index].stream(cutAfter: 300_000) == .cut)
    }
    let part = try #require(place.names("").first { $0.hasSuffix(".2") })
    try FileManager.default.removeItem(atPath: place.file(part))
    #expect(throws: FileFault(.busy)) { _ = try copy.streams[1].stream() }
    #expect(place.names("") == ["a"])
  }

  /// As where the host turns out to know no streams.
  @Test func aStreamThatNeverBeganLeavesNothing() throws {
    let (place, _) = try StripedCopy.place(size: 10)
    let copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for stream in copy.streams { _ = try stream.receiver.connect() }
    for stream in copy.streams { stream.receiver.disconnect() }
    #expect(place.names("") == ["a"])
  }

  /// A program that was killed in between leaves a part without its owner.
  @Test func aPartWithoutAnOwnerIsRemovedByALaterCopy() throws {
    let (place, bytes) = try StripedCopy.place(size: 2 * Self.unit)
    var three = StripedCopy(place.file("a"), to: place.file("b"), count: 3)
    _ = try three.streams[0].stream(cutAfter: 300_000)
    let owner = try #require(place.names("").first { $0.hasSuffix(".3.run") })
    try FileManager.default.removeItem(atPath: place.file(owner))
    var one = Copy(place.file("a"), to: place.file("b"))
    #expect(try one.stream() == .finished)
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
  }
}
