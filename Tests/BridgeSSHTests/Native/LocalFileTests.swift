import BridgeErrors
import BridgeSSH
import Foundation
import Testing

struct LocalFileTests {
  @Test func whatIsNotThereIsNil() throws {
    let room = try TemporaryDirectory()
    let content = try LocalFile.read(room.file("none"))
    #expect(content == nil)
    let below = try LocalFile.read(try room.write("", to: "file") + "/below")
    #expect(below == nil)
  }

  @Test func aDirectoryAndAPipeAreRefusedInWords() throws {
    let room = try TemporaryDirectory()
    #expect(throws: AppError.fileReadError(path: room.path, reason: "Is a directory")) {
      try LocalFile.read(room.path)
    }
    let pipe = room.file("pipe")
    let made = unsafe mkfifo(pipe, 0o600)
    try #require(made == 0)
    #expect(throws: AppError.fileReadError(path: pipe, reason: "It is not a regular file.")) {
      try LocalFile.read(pipe)
    }
  }

  @Test func aFileOverTheLimitIsRefused() throws {
    let room = try TemporaryDirectory()
    let path = try room.write("12345", to: "file")
    #expect(throws: AppError.fileReadError(path: path, reason: "It is larger than 4 bytes.")) {
      try LocalFile.read(path, limit: 4)
    }
    let content = try LocalFile.read(path, limit: 5)
    #expect(content?.text == "12345")
    #expect(content?.mode == 0o600)
  }

  @Test(.enabled(if: getuid() != 0, "root may read every file"))
  func aFileWithoutPermissionSaysSo() throws {
    let room = try TemporaryDirectory()
    let path = try room.write("secret", to: "file", mode: 0)
    #expect(throws: AppError.filePermissionDenied(path: path)) { try LocalFile.read(path) }
  }

  @Test func aPathWithAZeroByteNeverReachesTheSystem() {
    #expect(throws: AppError.self) { try LocalFile.read("/etc/passwd\0.pub") }
    #expect(LocalFile.names(in: "/etc\0").isEmpty)
  }

  @Test func appendingKeepsBytesModeAndLink() throws {
    let room = try TemporaryDirectory()
    var old = Data("first ".utf8)
    old.append(0xff)
    try room.write(old, to: "real", mode: 0o640)
    try FileManager.default.createSymbolicLink(
      atPath: room.file("link"), withDestinationPath: room.file("real"))
    try LocalFile.append(to: room.file("link")) { _ in "second" }
    let bytes = try #require(try LocalFile.read(room.file("real"))?.bytes)
    #expect(bytes == Array(old) + Array("second".utf8))
    #expect(try room.mode("real") == 0o640)
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: room.file("link"))
    #expect(link == room.file("real"))
    #expect(Set(LocalFile.names(in: room.path)) == ["real", "link"])
  }

  @Test func aNewFileAndItsDirectoryAreTheOwnersAlone() throws {
    let room = try TemporaryDirectory()
    try LocalFile.append(to: room.file("ssh/known_hosts")) { _ in "line\n" }
    #expect(try room.mode("ssh") == 0o700)
    #expect(try room.mode("ssh/known_hosts") == 0o600)
    #expect(try room.text("ssh/known_hosts") == "line\n")
  }

  @Test func aFileThatCannotBeReplacedStaysAsItIs() throws {
    let room = try TemporaryDirectory()
    let target = room.file("taken")
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    #expect(throws: AppError.fileReadError(path: target, reason: "Is a directory")) {
      try LocalFile.append(to: target) { _ in "line" }
    }
    #expect(LocalFile.names(in: room.path) == ["taken"])
  }

  /// A terminal stands in for /dev/null: nobody can put a file in its place.
  @Test func aDeviceIsWrittenToAndNeverReplaced() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    try #require(unsafe openpty(&master, &slave, nil, nil, nil) == 0)
    defer {
      close(master)
      close(slave)
    }
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(slave)")
    // What it holds is read first, and is nothing: an end of file.
    try #require(unsafe write(master, [UInt8(4)], 1) == 1)
    try LocalFile.append(to: path) { _ in "a line" }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(master, &buffer, buffer.count)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).hasSuffix("a line"))
  }

  @Test func manyWritersLoseNoLine() async throws {
    let room = try TemporaryDirectory()
    let path = room.file("known_hosts")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        group.addTask { try LocalFile.append(to: path) { _ in "line \(number)\n" } }
      }
      try await group.waitForAll()
    }
    let lines = try room.text("known_hosts").split(separator: "\n")
    #expect(Set(lines) == Set((0..<16).map { "line \($0)" }))
  }
}
