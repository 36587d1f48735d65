import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

/// A file that several streams carry together.
@Suite(.timeLimit(.minutes(5))) struct StripedCopyTests {
  private static let unit = Int(FileStripe.unit)

  @Test(arguments: [0, 1, 70_000, unit, unit + 1, 3 * unit + 12_345], [2, 3, 8])
  func itIsWholeAndNothingIsLeftBesideIt(size: Int, count: Int) throws {
    let (place, bytes) = try StripedCopy.place(size: size)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: count)
    for index in copy.streams.indices { #expect(try copy.streams[index].stream() == .finished) }
    #expect(place.read("b") == nil)
    try copy.join()
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
    let parts = try copy.parts()
    #expect(parts.size == UInt64(size) && !parts.hasChanged)
  }

  /// The one with the end of the file knows how long it is.
  @Test func whatAFileNeedsIsThatOfAllItsStreams() throws {
    let place = try Place()
    try place.write([], to: "a")
    // More than any file system here has.
    let size = 1 << 43
    FileDetails.setSize(place.file("a"), size)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    var needed: [UInt64] = []
    for index in copy.streams.indices {
      #expect(try copy.streams[index].stream() == .failed(.noSpace))
      needed.append(copy.streams[index].receiver.failure?.fault.space?.required ?? 0)
    }
    #expect(needed == [UInt64(size) - FileStripe.unit, UInt64(size)])
  }

  @Test func itGetsItsPlaceInsideADirectory() throws {
    let (place, bytes) = try StripedCopy.place(size: Self.unit + 9)
    try place.write([], to: "d/other")
    var copy = StripedCopy(place.file("a"), to: place.file("d"), name: "a", count: 2)
    for index in copy.streams.indices { _ = try copy.streams[index].stream() }
    try copy.join()
    #expect(place.read("d/a") == bytes)
    #expect(place.names("d") == ["a", "other"])
  }

  @Test(arguments: [100, FileLimits.data + 500, unit - 100, unit + 300_000, unit + 700_000])
  func aStreamThatIsCutGoesOn(limit: Int) throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit + 77)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices {
      #expect(try copy.streams[index].stream(cutAfter: limit + index) == .cut)
      #expect(try copy.streams[index].stream() == .finished)
      #expect(copy.streams[index].sent < 2 * Self.unit + 2 * FileLimits.data)
    }
    try copy.join()
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
  }

  /// One stream is there, of the other one a part: both are compared, and nearly all is kept.
  @Test func aLaterRunGoesOnWhereAnEarlierOneEnded() throws {
    let (place, bytes) = try StripedCopy.place(size: 4 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    #expect(try first.streams[0].stream(cutAfter: Self.unit + 500_000) == .cut)
    #expect(try first.streams[1].stream() == .finished)
    first.end()
    var second = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    for index in second.streams.indices {
      #expect(try second.streams[index].stream() == .finished)
    }
    #expect(second.streams[0].sent < Self.unit)
    #expect(second.streams[1].sent < 4 * FileLimits.data)
    try second.join()
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
  }

  @Test func aLaterRunOfAnotherSourceTakesNothingOver() throws {
    let (place, _) = try StripedCopy.place(size: 4 * Self.unit)
    var first = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    _ = try first.streams[0].stream(cutAfter: Self.unit + 500_000)
    _ = try first.streams[1].stream()
    first.end()
    // Shorter, too: what lies behind its end is not part of it.
    let other = Place.bytes(2 * Self.unit + 5, seed: 99)
    try place.write(other, to: "a")
    var second = StripedCopy(
      place.file("a"), to: place.file("b"), count: 2, run: Identifier(high: 7, low: 8))
    for index in second.streams.indices { _ = try second.streams[index].stream() }
    try second.join()
    #expect(place.read("b") == other)
  }

  @Test func aDamagedByteIsAMismatchAndNothingIsLeft() throws {
    let (place, _) = try StripedCopy.place(size: Self.unit + 100_000)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    var count = 0
    _ = try copy.streams[0].stream { bytes in
      count += 1
      if count == 3 { bytes[5000] ^= 1 }
    }
    #expect(copy.streams[0].faults == [.mismatch])
    #expect(place.names("") == ["a"])
  }

  @Test(arguments: [100, unit + 5, 2 * unit])
  func aSourceThatChangesBetweenItsStreamsIsNotCompleted(size: Int) throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    _ = try copy.streams[0].stream()
    try place.write(Place.bytes(size), to: "a")
    _ = try copy.streams[1].stream()
    let fault = #expect(throws: FileFault.self) { try copy.parts() }
    #expect(fault?.code == .unreadable)
  }

  @Test func lengthsThatNoFileHasAreRefused() throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices { _ = try copy.streams[index].stream() }
    let start = try #require(copy.streams[0].sender.start)
    for sizes in [[1, 1], [UInt64.max, 2], [UInt64(Self.unit), 2 * UInt64(Self.unit)]] {
      let parts = sizes.map { size in
        var start = start
        start.size = size
        return FileParts.Part(start, origin: [], hasChanged: false)
      }
      let fault = #expect(throws: FileFault.self) { try FileParts(parts) }
      #expect(fault?.code == .violation)
    }
  }

  /// The host had done it, and its answer was lost; only then is there nothing to do.
  @Test func aRepeatedJoinFindsTheFile() throws {
    let (place, bytes) = try StripedCopy.place(size: Self.unit + 1)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices { _ = try copy.streams[index].stream() }
    try copy.join()
    try copy.join(isRepeated: true)
    #expect(place.read("b") == bytes)
    #expect(throws: FileFault.self) { try copy.join() }
    try place.write([1], to: "b")
    #expect(throws: FileFault.self) { try copy.join(isRepeated: true) }
  }

  @Test func aPartThatIsTooShortIsNotCompleted() throws {
    let (place, _) = try StripedCopy.place(size: 2 * Self.unit)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices { _ = try copy.streams[index].stream() }
    let part = try #require(place.names("").first { $0.hasSuffix(".2") })
    let file = try FileHandle(forWritingTo: URL(filePath: place.file(part)))
    try file.truncate(atOffset: 100)
    #expect(throws: FileFault(.mismatch)) { try copy.join() }
    #expect(place.read("b") == nil)
  }

  @Test func aDirectoryInItsPlaceStays() throws {
    let (place, _) = try StripedCopy.place(size: 10)
    var copy = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in copy.streams.indices { _ = try copy.streams[index].stream() }
    try place.write([], to: "b/inside")
    let parts = try copy.parts()
    var request = copy.request(parts)
    request.point?.isInside = false
    #expect(throws: FileFault(.isDirectory)) { try FileJoin(request)?.perform() }
    copy.end()
    #expect(place.read("b/inside") == [])
    #expect(place.names("") == ["a", "b", "b/inside"])
  }

  /// Runs with other numbers of streams left something, which no run would go on with.
  @Test func whatRunsOfOtherNumbersLeftIsRemoved() throws {
    let (place, bytes) = try StripedCopy.place(size: 2 * Self.unit)
    var one = Copy(place.file("a"), to: place.file("b"))
    _ = try one.stream(cutAfter: 300_000)
    var three = StripedCopy(place.file("a"), to: place.file("b"), count: 3)
    _ = try three.streams[0].stream(cutAfter: 300_000)
    #expect(place.names("").count == 4)
    var two = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in two.streams.indices { _ = try two.streams[index].stream() }
    try two.join()
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
    _ = try three.streams[0].stream(cutAfter: 300_000)
    one = Copy(place.file("a"), to: place.file("b"))
    #expect(try one.stream() == .finished)
    #expect(place.names("") == ["a", "b"])
  }

  /// A run that is under way with another number of streams is left alone.
  @Test func whatIsWrittenByAnotherRunStays() throws {
    let (place, _) = try StripedCopy.place(size: Self.unit)
    let three = StripedCopy(place.file("a"), to: place.file("b"), count: 3)
    _ = try three.streams[0].receiver.connect()
    var two = StripedCopy(place.file("a"), to: place.file("b"), count: 2)
    for index in two.streams.indices { _ = try two.streams[index].stream() }
    try two.join()
    #expect(place.names("").contains { $0.hasSuffix(".3.run") })
    three.streams[0].receiver.disconnect()
  }
}
