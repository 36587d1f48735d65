import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

/// A sender that lies, and a destination that is not what it should be: nothing is written outside.
@Suite struct HostileStreamTests {
  private static let meta = FileMeta(mode: 0o644, seconds: 1, nanoseconds: 0)

  private func receiver(_ place: Place, _ name: String = "in") throws -> FileReceiver {
    let receiver = FileReceiver(
      Array(place.file(name).utf8), name: nil, isRecursive: true,
      transfer: Identifier(high: 1, low: 1))
    _ = try receiver.connect()
    return receiver
  }

  private func file(_ entry: UInt64, _ name: String, _ bytes: [UInt8]) -> [FileFrame] {
    let start = FileStart(
      name: Array(name.utf8), size: UInt64(bytes.count), offset: 0, meta: Self.meta,
      identity: [])
    let end = FileEnd(digest: FileHash.digest(of: bytes), hasChanged: false)
    return [.file(entry: entry, start)] + (bytes.isEmpty ? [] : [.data(offset: 0, bytes)])
      + [.end(size: UInt64(bytes.count), end)]
  }

  private let top = FileFrame.directory(entry: 0, name: [], Self.meta)

  /// The link is of the peer's making or was there before; what lies behind it stays as it is.
  @Test func aSymbolicLinkInTheDestinationIsNotFollowed() throws {
    let place = try Place()
    try place.write([1], to: "outside/kept")
    try place.write([], to: "in/x")
    try place.link("in/d", to: place.file("outside"))
    try place.link("in/kept", to: place.file("outside/kept"))
    let receiver = try receiver(place)
    var frames = [top] + file(1, "kept", [2, 2])
    frames += [.directory(entry: 2, name: Array("d".utf8), Self.meta)] + file(3, "new", [3])
    frames += [.leave] + file(4, "last", [4])
    for frame in frames { try receiver.take(frame) }
    #expect(place.read("outside/kept") == [1])
    #expect(place.names("outside") == ["kept"])
    // The link itself was replaced, and the rest goes on.
    #expect(place.read("in/kept") == [2, 2] && place.read("in/last") == [4])
    let faults = receiver.takeEvents().compactMap { event -> FileFault.Code? in
      if case .missing(_, let fault, _) = event { fault.code } else { nil }
    }
    #expect(faults == [.notDirectory, .unwritable])
  }

  /// A copy is given up where streams end without having brought anything.
  @Test func aFileThatIsSentAgainIsNoProgress() throws {
    let place = try Place()
    let receiver = try receiver(place)
    for frame in [top] + file(1, "a", [1, 1]) { try receiver.take(frame) }
    let first = receiver.progress
    receiver.disconnect()
    _ = try receiver.connect()
    for frame in [top] + file(1, "a", [1, 1]) { try receiver.take(frame) }
    #expect(first.files == 1 && receiver.progress == first)
    for frame in file(2, "b", [2]) { try receiver.take(frame) }
    #expect(receiver.progress.files == 2)
  }

  @Test func anEndWithoutAnythingIsNoCopy() throws {
    let receiver = try receiver(Place())
    #expect(throws: ProtocolError.self) { try receiver.take(.done(entries: 0)) }
    #expect(!receiver.isFinished)
  }

  @Test func aFileWithoutADigestIsNotPutInPlace() throws {
    let place = try Place()
    let receiver = try receiver(place)
    let start = FileStart(name: [102], size: 1, offset: 0, meta: Self.meta, identity: [])
    let end = FileEnd(digest: nil, hasChanged: false)
    for frame in [
      top, .file(entry: 1, start), .data(offset: 0, [1]), .end(size: 1, end),
    ] { try receiver.take(frame) }
    #expect(place.names("in") == [])
  }

  @Test func aLinkOfThePeerDoesNotLeadOut() throws {
    let place = try Place()
    try place.write([1], to: "outside/kept")
    let receiver = try receiver(place)
    for target in [place.file("outside"), "../outside", "a/../../outside"] {
      let receiver = try self.receiver(place, "in\(target.count)")
      try receiver.take(top)
      try receiver.take(.link(entry: 1, name: [100], target: Array(target.utf8)))
      #expect(place.names("in\(target.count)") == [])
    }
    // One that stays inside is made, and is no way either.
    try receiver.take(top)
    try receiver.take(.link(entry: 1, name: [100], target: [101]))
    try receiver.take(.directory(entry: 2, name: [100], Self.meta))
    for frame in file(3, "f", [1]) { try receiver.take(frame) }
    #expect(place.names("in") == ["d"])
    #expect(place.names("outside") == ["kept"])
  }

  @Test func aDirectoryInPlaceOfAFileStays() throws {
    let place = try Place()
    try place.write([1], to: "in/f/kept")
    let receiver = try receiver(place)
    for frame in [top] + file(1, "f", [9]) + file(2, "g", [8]) { try receiver.take(frame) }
    #expect(place.read("in/f/kept") == [1] && place.read("in/g") == [8])
  }

  @Test func aWrongDigestGivesNoFile() throws {
    let place = try Place()
    try place.write([7], to: "in/f")
    let receiver = try receiver(place)
    var frames = file(1, "f", [9])
    frames[2] = .end(
      size: 1, FileEnd(digest: [UInt8](repeating: 0, count: 32), hasChanged: false))
    for frame in [top] + frames { try receiver.take(frame) }
    #expect(place.read("in/f") == [7])
    #expect(place.names("in") == ["f"])
  }

  @Test func bitsThatGiveRightsAreDropped() throws {
    let place = try Place()
    try place.write([7], to: "a")
    FileDetails.setMode(place.file("a"), 0o4755)
    var copy = Copy(place.file("a"), to: place.file("b"))
    #expect(try copy.stream() == .finished)
    #expect(FileDetails.of(place.file("b"))[0] & 0o7777 == 0o755)
  }
}
