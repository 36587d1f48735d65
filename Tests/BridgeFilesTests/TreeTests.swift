import BridgeFiles
import BridgeSessionProtocol
import Foundation
import Testing

/// Trees and single files, from one directory to another.
@Suite(.timeLimit(.minutes(5))) struct TreeTests {
  @Test func modesAndTimesAreKept() throws {
    let place = try Place()
    try place.write([1, 2, 3], to: "t/d/f")
    FileDetails.setMode(place.file("t/d/f"), 0o640)
    for name in ["t/d/f", "t/d"] {
      FileDetails.setTime(place.file(name), seconds: 981_173_106, nanoseconds: 123_456_789)
    }
    FileDetails.setMode(place.file("t/d"), 0o750)
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .finished)
    for name in ["d", "d/f"] {
      #expect(
        FileDetails.of(place.file("t/\(name)")) == FileDetails.of(place.file("u/\(name)")))
    }
    #expect(FileDetails.of(place.file("u/d/f"))[2] == 123_456_789)
  }

  /// As a write into it would leave them; only root can give a file away.
  @Test(.enabled(if: FileDetails.isRoot), arguments: [0o755, 0o1777] as [mode_t])
  func aFileThatIsReplacedKeepsItsOwner(mode: mode_t) throws {
    let place = try Place()
    try place.write([1], to: "t/f")
    try place.write([2], to: "u/f")
    FileDetails.setOwner(place.file("u/f"), 1234)
    FileDetails.setMode(place.file("u"), mode)
    var copy = Copy(place.file("t/f"), to: place.file("u/f"))
    #expect(try copy.stream() == .finished)
    #expect(place.read("u/f") == [1])
    // Where anybody may make names the file may be a stranger's.
    #expect(FileDetails.owner(place.file("u/f")) == (mode == 0o755 ? 1234 : 0))
  }

  @Test func aDestinationThatIsADirectoryGetsTheName() throws {
    let place = try Place()
    try place.write([1], to: "t/f")
    try place.write([], to: "into/x")
    var copy = Copy(place.file("t"), to: place.file("into"), name: "t", isRecursive: true)
    #expect(try copy.stream() == .finished)
    #expect(place.names("into") == ["t", "t/f", "x"])
    var file = Copy(place.file("t/f"), to: place.file("into"), name: "f")
    #expect(try file.stream() == .finished)
    #expect(place.names("into") == ["f", "t", "t/f", "x"])
  }

  /// A directory that the first stream made is not taken for one that was there before.
  @Test func aNewDirectoryIsTheSameOneAfterACut() throws {
    let place = try Place()
    for index in 0..<20 { try place.write(Place.bytes(500), to: "t/f\(index)") }
    var copy = Copy(place.file("t"), to: place.file("u"), name: "t", isRecursive: true)
    #expect(try copy.stream(cutAfter: 3000) == .cut)
    #expect(try copy.stream() == .finished)
    #expect(place.names("u") == place.names("t"))
  }

  @Test func aNameMayHaveEveryByte() throws {
    let place = try Place()
    try place.write([], to: "t/x")
    let name = (UInt8(1)...255).filter { $0 != 47 }.prefix(200)
    #expect(FileDetails.make(Array(name), in: place.file("t")))
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .finished)
    let paths = copy.events.compactMap { event -> FilePath? in
      if case .copied(let path, _, _, _) = event { path } else { nil }
    }
    #expect(paths.contains([Array(name)]))
  }

  /// Its length is 0 for stat(2), and it has content.
  @Test func aFileOfTheSystemIsNotCopiedAsAnEmptyOne() throws {
    let place = try Place()
    var copy = Copy("/proc/cpuinfo", to: place.file("a"))
    _ = try copy.stream()
    #expect(copy.faults == [.unreadable])
    #expect(place.names("") == [])
  }

  /// As with cp(1).
  @Test func aNameWithASlashBehindItIsThatOfADirectory() throws {
    let place = try Place()
    try place.write([1], to: "a")
    try place.write([2], to: "b")
    for target in ["b/", "new/"] {
      var copy = Copy(place.file("a"), to: place.file(target), name: "a")
      #expect(throws: FileFault.self) { _ = try copy.stream() }
    }
    #expect(place.names("") == ["a", "b"] && place.read("b") == [2])
    try place.write([3], to: "t/x")
    var tree = Copy(place.file("t"), to: place.file("new/"), name: "t", isRecursive: true)
    #expect(try tree.stream() == .finished)
    #expect(place.names("new") == ["x"])
  }

  /// A file is where their directory is to be.
  @Test func filesBelowADirectoryThatCannotBeMadeAreNotCopied() throws {
    let place = try Place()
    for name in ["d/a", "d/b", "z"] { try place.write([1], to: "t/\(name)") }
    try place.link("t/d/l", to: "a")
    try place.write([2], to: "u/d")
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .finished)
    #expect(copy.faults == [.notDirectory, .unwritable, .unwritable, .unwritable])
    let copied = copy.sentEvents.compactMap { event -> FilePath? in
      if case .copied(let path, _, _, _) = event { path } else { nil }
    }
    #expect(copied == [[Array("z".utf8)]])
    #expect(place.names("u") == ["d", "z"] && place.read("u/d") == [2])
  }

  @Test func whatIsNoFileIsNamedAndTheRestIsCopied() throws {
    let place = try Place()
    try place.write([1], to: "t/a")
    try place.write([2], to: "t/z")
    #expect(FileDetails.makePipe(place.file("t/pipe")))
    try place.link("t/inside", to: "a")
    try place.link("t/outside", to: "/etc/passwd")
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .finished)
    #expect(copy.faults == [.unsafeLink, .special])
    #expect(place.names("u") == ["a", "inside", "z"])
  }

  /// Other programs use it by that name.
  @Test func whatIsNoFileKeepsItsName() throws {
    let place = try Place()
    try place.write([1], to: "t/a")
    try place.write([2], to: "t/z")
    try place.link("t/l", to: "a")
    try place.write([3], to: "u/z")
    for name in ["u/a", "u/l", "pipe"] { #expect(FileDetails.makePipe(place.file(name))) }
    var tree = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try tree.stream() == .finished)
    #expect(tree.faults == [.unwritable, .unwritable])
    var file = Copy(place.file("t/a"), to: place.file("pipe"))
    #expect(try file.stream() == .finished)
    #expect(file.faults == [.unwritable])
    for name in ["u/a", "u/l", "pipe"] { #expect(FileDetails.isPipe(place.file(name))) }
    #expect(place.read("u/z") == [2])
    #expect(place.names("u") == ["a", "l", "z"], "no part is left")
  }

  /// /dev/stdout is one: who copies to it as root would take it from every program.
  @Test(arguments: ["/dev/null", "pipe", "/dev/stdout", "/proc/self/fd/1"])
  func aLinkToWhatIsNoFileStays(goal: String) throws {
    let place = try Place()
    try place.write([1], to: "a")
    #expect(FileDetails.makePipe(place.file("pipe")))
    try place.link("b", to: goal)
    var file = Copy(place.file("a"), to: place.file("b"))
    #expect(try file.stream() == .finished)
    #expect(file.faults == [.unwritable])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place.file("b")) == goal)
  }

  /// Else what one user may not remove there, all may in the copy.
  @Test func aDirectoryIsCopiedWithItsStickyBit() throws {
    let place = try Place()
    try place.write([1], to: "t/d/f")
    FileDetails.setMode(place.file("t/d"), 0o3777)
    FileDetails.setMode(place.file("t/d/f"), 0o7640)
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .finished)
    #expect(FileDetails.of(place.file("u/d"))[0] & 0o7777 == 0o1777)
    #expect(FileDetails.of(place.file("u/d/f"))[0] & 0o7777 == 0o640)
  }

  @Test func aDirectoryIsNotCopiedWithoutBeingAsked() throws {
    let place = try Place()
    try place.write([1], to: "t/a")
    var copy = Copy(place.file("t"), to: place.file("u"))
    #expect(try copy.stream() == .finished)
    #expect(copy.faults == [.needsRecursion])
    #expect(place.names("") == ["t", "t/a"])
  }

  @Test func aSourceThatShrinksGivesNoFile() throws {
    let place = try Place()
    try place.write(Place.bytes(2 << 20), to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    var count = 0
    let ending = try copy.stream { _ in
      count += 1
      if count == 3 { FileDetails.setSize(place.file("a"), 1 << 20) }
    }
    #expect(ending == .finished && copy.faults == [.shrank])
    #expect(place.names("") == ["a"])
  }

  @Test func aSourceThatGrowsIsCopiedAsItWas() throws {
    let place = try Place()
    let bytes = Place.bytes(2 << 20)
    try place.write(bytes, to: "a")
    var copy = Copy(place.file("a"), to: place.file("b"))
    var count = 0
    let ending = try copy.stream { _ in
      count += 1
      if count == 3 { FileDetails.setSize(place.file("a"), 3 << 20) }
    }
    #expect(ending == .finished && place.read("b") == bytes)
    guard case .copied(_, _, _, hasChanged: true)? = copy.events.last else {
      Issue.record("\(copy.events)")
      return
    }
  }

  @Test func aFileBeyondFourGibibytesGoesOnBeyondThem() throws {
    let place = try Place()
    // Sparse: its end is all that is sent.
    try place.write([], to: "a")
    let size = 5 << 30
    FileDetails.setSize(place.file("a"), size + 100)
    let sender = FileSender(Array(place.file("a").utf8), isRecursive: false)
    let identity = FileHash.digest(
      of: try OpenFile.status(named: Array(place.file("a").utf8)).identity)
    let state = [UInt8](repeating: 1, count: 32)
    sender.connect(
      FilePoint(
        part: .init(path: [], offset: UInt64(size), state: state, identity: identity)))
    var parser = FileFrameParser()
    while let bytes = sender.next() { parser.append(bytes) }
    guard case .file(0, let start)? = try parser.next(),
      case .data(let offset, let bytes)? = try parser.next()
    else {
      Issue.record("no file")
      return
    }
    #expect(start.offset == UInt64(size) && offset == UInt64(size) && bytes.count == 100)
  }

  @Test func manyFilesAreOneStream() throws {
    let place = try Place()
    for index in 0..<5000 { try place.write([UInt8(index & 255)], to: "t/\(index)") }
    var copy = Copy(place.file("t"), to: place.file("u"), isRecursive: true)
    #expect(try copy.stream() == .finished)
    #expect(copy.digests.count == 5000 && place.names("u").count == 5000)
  }
}
