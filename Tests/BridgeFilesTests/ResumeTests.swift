import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

/// A copy whose stream is cut goes on where it was.
@Suite(.timeLimit(.minutes(5))) struct ResumeTests {
  private static let size = 3 * FileLimits.data + 12345

  @Test(
    arguments: [
      0, 1, 15, 60, 100, FileLimits.data, FileLimits.data + 100, FileLimits.data + 400,
      2 * FileLimits.data + 300, 3 * FileLimits.data + 12000, 3 * FileLimits.data + 12345 + 400,
    ], [nil, Copy.key])
  func aFileThatIsCutAnywhereIsWhole(_ limit: Int, key: [UInt8]?) throws {
    let place = try Place()
    let bytes = Place.bytes(Self.size)
    try place.write(bytes, to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"), key: key)
    _ = try copy.stream(cutAfter: limit)
    #expect(try copy.stream() == .finished)
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
    // What was verified by a mark was not sent again.
    #expect(copy.sent < Self.size + FileLimits.data + 2000, "\(copy.sent)")
    var hash = FileHash(key: key)
    hash.add(bytes)
    #expect(copy.digests == [hash.digest])
  }

  /// bridge-host is gone after a break, and the tools of the host take its place.
  @Test func aCopyGoesOnByAnotherCheck() throws {
    let place = try Place()
    let bytes = Place.bytes(Self.size)
    try place.write(bytes, to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    #expect(try copy.stream(cutAfter: 2 * FileLimits.data) == .cut)
    copy.sender.useSHA256()
    copy.receiver.useSHA256()
    #expect(try copy.stream() == .finished)
    #expect(place.read("b") == bytes)
    #expect(copy.digests == [FileHash.digest(of: bytes)])
    #expect(copy.faults.isEmpty)
  }

  @Test func manyCutsInOneFile() throws {
    let place = try Place()
    let bytes = Place.bytes(4 << 20)
    try place.write(bytes, to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    var streams = 1
    while try copy.stream(cutAfter: FileLimits.data + 1000) != .finished, streams < 100 {
      streams += 1
    }
    #expect(streams > 10 && streams < 80)
    #expect(place.read("b") == bytes)
  }

  @Test func aSourceThatIsAnotherOneIsCopiedFromItsBeginning() throws {
    let place = try Place()
    try place.write(Place.bytes(Self.size), to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    #expect(try copy.stream(cutAfter: 2 * FileLimits.data) == .cut)
    let other = Place.bytes(Self.size, seed: 9)
    try place.write(other, to: "a")
    #expect(try copy.stream() == .finished)
    #expect(place.read("b") == other)
  }

  /// Beyond what the sender sends without an answer: the count of the stream before is forgotten.
  @Test func aLargeSourceThatIsAnotherOneIsAcknowledgedFromItsBeginning() throws {
    let place = try Place()
    let size = FileLimits.data * (2 * FileLimits.marks + 100)
    try place.write([], to: "a")
    let file = try FileHandle(forWritingTo: URL(filePath: place.file("a")))
    try file.truncate(atOffset: UInt64(size))
    var copy = Copy(place.file("a"), to: place.file("b"))
    #expect(try copy.stream(cutAfter: size - 1000) == .cut)
    try file.seek(toOffset: 0)
    try file.write(contentsOf: Data([7]))
    try file.close()
    #expect(try copy.stream() == .finished)
    #expect(FileManager.default.contentsEqual(atPath: place.file("a"), andPath: place.file("b")))
  }

  /// A copy of `a` to `b` that was cut, and the name of its temporary file.
  private func cutCopy(of bytes: [UInt8]) throws -> (place: Place, copy: Copy, part: String) {
    let place = try Place()
    try place.write(bytes, to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    #expect(try copy.stream(cutAfter: 3 * FileLimits.data) == .cut)
    let part = try #require(place.names("").first { $0.hasPrefix(".bridge-copy-") })
    return (place, copy, part)
  }

  /// Its temporary file is cut, removed, or has other bytes, when the next stream begins.
  @Test(arguments: ["cut", "removed", "altered", "empty"])
  func aPartThatSomethingElseWroteIsCompared(_ what: String) throws {
    let bytes = Place.bytes(Self.size)
    let (place, started, part) = try cutCopy(of: bytes)
    var copy = started
    switch what {
    case "removed": try FileManager.default.removeItem(atPath: place.file(part))
    case "empty": try place.write([], to: part)
    case _:
      let file = try FileHandle(forUpdating: URL(filePath: place.file(part)))
      if what == "cut" { try file.truncate(atOffset: 1000) }
      if what == "altered" { try file.write(contentsOf: Data([1, 2, 3])) }
      try file.close()
    }
    #expect(try copy.stream() == .finished)
    #expect(place.read("b") == bytes)
    #expect(place.names("") == ["a", "b"])
  }

  /// Its owner would own the copy, or have it under another name.
  @Test(arguments: geteuid() == 0 ? ["owner", "name"] : ["name"])
  func aPartThatAnotherUserHasIsNotContinued(_ what: String) throws {
    let bytes = Place.bytes(Self.size)
    let (place, _, part) = try cutCopy(of: bytes)
    if what == "owner" {
      try FileManager.default.setAttributes(
        [.ownerAccountID: 65534], ofItemAtPath: place.file(part))
    } else {
      try FileManager.default.linkItem(atPath: place.file(part), toPath: place.file("other"))
    }
    var second = Copy(place.file("a"), to: place.file("b"))
    #expect(try second.stream() == .finished)
    #expect(second.sent >= Self.size)
    #expect(place.read("b") == bytes && FileDetails.owner(place.file("b")) == geteuid())
  }

  /// With another time its bytes are compared, and it goes on.
  @Test func aSourceThatWasTouchedGoesOn() throws {
    let place = try Place()
    let bytes = Place.bytes(Self.size)
    try place.write(bytes, to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    #expect(try copy.stream(cutAfter: 2 * FileLimits.data + 1000) == .cut)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: place.file("a"))
    #expect(try copy.stream() == .finished)
    #expect(place.read("b") == bytes && copy.sent < Self.size + FileLimits.data)
  }

  /// As where bridgectl was killed: nothing is known but what lies there.
  @Test func aSingleFileGoesOnInALaterRun() throws {
    let place = try Place()
    let bytes = Place.bytes(Self.size)
    try place.write(bytes, to: "a")
    var first = Copy(place.file("a"), to: place.file("b"))
    #expect(try first.stream(cutAfter: 2 * FileLimits.data + 1000) == .cut)
    var second = Copy(place.file("a"), to: place.file("b"))
    #expect(try second.stream() == .finished)
    #expect(place.read("b") == bytes && second.sent < 2 * FileLimits.data)
    #expect(place.names("") == ["a", "b"])
  }

  @Test func whatAnEarlierRunLeftIsNotTakenForTheStartOfAnotherFile() throws {
    let place = try Place()
    try place.write(Place.bytes(Self.size), to: "a")
    var first = Copy(place.file("a"), to: place.file("b"))
    #expect(try first.stream(cutAfter: 2 * FileLimits.data + 1000) == .cut)
    let other = Place.bytes(Self.size, seed: 5)
    try place.write(other, to: "a")
    var second = Copy(place.file("a"), to: place.file("b"))
    #expect(try second.stream() == .finished)
    #expect(place.read("b") == other)
  }

  @Test func aTreeThatIsCutEverywhereIsWhole() throws {
    let place = try Place()
    var expected: [String: [UInt8]] = [:]
    for index in 0..<40 {
      let name = "d\(index % 3)/e\(index % 5)/f\(index)"
      expected[name] = Place.bytes(index * 37, seed: index)
      try place.write(expected[name] ?? [], to: "t/\(name)")
    }
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    var streams = 1
    // A little more each time: the cut comes at every kind of frame.
    while try copy.stream(cutAfter: 900 + 13 * streams) != .finished, streams < 500 {
      streams += 1
    }
    #expect(streams > 10 && streams < 500)
    for (name, bytes) in expected { #expect(place.read("u/\(name)") == bytes, "\(name)") }
    #expect(place.names("t") == place.names("u"))
    // None was copied twice.
    #expect(copy.digests.count == 40 && copy.receiver.progress.files == 40)
  }

  @Test func aChangedByteOnTheWayIsFound() throws {
    let place = try Place()
    try place.write(Place.bytes(Self.size), to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    var count = 0
    _ = try? copy.stream { bytes in
      count += 1
      if count == 1 { bytes[bytes.count / 3] ^= 1 }
    }
    #expect(place.read("b") == nil)
    #expect(copy.faults == [.mismatch])
    #expect(place.names("") == ["a"])
  }
}
