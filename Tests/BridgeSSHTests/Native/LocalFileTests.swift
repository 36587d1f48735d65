import BridgeErrors
import BridgeSSH
import Foundation
import Testing

struct LocalFileTests {
  @Test func whatIsNotThereIsNil() throws {
    let directory = try TemporaryDirectory()
    let content = try LocalFile.read(directory.file("none"))
    #expect(content == nil)
    let below = try LocalFile.read(try directory.write("", to: "file") + "/below")
    #expect(below == nil)
  }

  @Test func aDirectoryAndAPipeAreRefusedInWords() throws {
    let directory = try TemporaryDirectory()
    #expect(throws: AppError.fileReadError(path: directory.path, reason: "Is a directory")) {
      try LocalFile.read(directory.path)
    }
    let pipe = directory.file("pipe")
    let made = unsafe mkfifo(pipe, 0o600)
    try #require(made == 0)
    #expect(throws: AppError.fileReadError(path: pipe, reason: "It is not a regular file.")) {
      try LocalFile.read(pipe)
    }
  }

  @Test func aFileOverTheLimitIsRefused() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("12345", to: "file")
    #expect(throws: AppError.fileReadError(path: path, reason: "It is larger than 4 bytes.")) {
      try LocalFile.read(path, limit: 4)
    }
    let content = try LocalFile.read(path, limit: 5)
    #expect(content?.text == "12345")
    #expect(content?.mode == 0o600)
  }

  @Test(.enabled(if: getuid() != 0, "root may read every file"))
  func aFileWithoutPermissionSaysSo() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("secret", to: "file", mode: 0)
    #expect(throws: AppError.filePermissionDenied(path: path)) { try LocalFile.read(path) }
  }

  @Test func aPathWithAZeroByteNeverReachesTheSystem() {
    #expect(throws: AppError.self) { try LocalFile.read("/etc/passwd\0.pub") }
    #expect(LocalFile.names(in: "/etc\0").isEmpty)
  }

  @Test func appendingKeepsBytesModeAndLink() throws {
    let directory = try TemporaryDirectory()
    var old = Data("first ".utf8)
    old.append(0xff)
    try directory.write(old, to: "real", mode: 0o640)
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link"), withDestinationPath: directory.file("real"))
    try LocalFile.append(to: directory.file("link")) { _ in "second" }
    let bytes = try #require(try LocalFile.read(directory.file("real"))?.bytes)
    #expect(bytes == Array(old) + Array("second".utf8))
    #expect(try directory.mode("real") == 0o640)
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: directory.file("link"))
    #expect(link == directory.file("real"))
    #expect(Set(LocalFile.names(in: directory.path)) == ["real", "link"])
  }

  @Test func aNewFileAndItsDirectoryAreTheOwnersAlone() throws {
    let directory = try TemporaryDirectory()
    try LocalFile.append(to: directory.file("ssh/known_hosts")) { _ in "line\n" }
    #expect(try directory.mode("ssh") == 0o700)
    #expect(try directory.mode("ssh/known_hosts") == 0o600)
    #expect(try directory.text("ssh/known_hosts") == "line\n")
  }

  /// As ssh creates what a link leads to.
  @Test func aLinkToNothingStaysOne() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("link"), withDestinationPath: "real")
    try LocalFile.append(to: directory.file("link")) { _ in "line\n" }
    #expect(try directory.text("real") == "line\n")
    let link = try FileManager.default.destinationOfSymbolicLink(atPath: directory.file("link"))
    #expect(link == "real")
  }

  /// It may be mounted by itself, as containers do, or stand in a directory of another user: the
  /// file itself is the same one after.
  @Test func theFileIsAddedToInPlace() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("first\n", to: "k")
    let number = {
      try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }
    let before = try number()
    try LocalFile.append(to: path) { "after \($0?.bytes.count ?? 0)\n" }
    #expect(try number() == before)
    #expect(try directory.text("k") == "first\nafter 6\n")
    #expect(LocalFile.names(in: directory.path) == ["k"])
  }

  @Test func aFileThatCannotBeReplacedStaysAsItIs() throws {
    let directory = try TemporaryDirectory()
    let target = directory.file("taken")
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    #expect(throws: AppError.fileReadError(path: target, reason: "Is a directory")) {
      try LocalFile.append(to: target) { _ in "line" }
    }
    #expect(LocalFile.names(in: directory.path) == ["taken"])
  }

  /// A terminal stands in for /dev/null: it cannot be replaced by a file.
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
    let directory = try TemporaryDirectory()
    let path = directory.file("known_hosts")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        group.addTask {
          // The second that one waits for the lock may pass while the others sync.
          while true {
            let error = await failure { () throws(AppError) in
              try LocalFile.append(to: path) { _ in "line \(number)\n" }
            }
            guard let error else { return }
            guard case .fileWriteError(_, "Another process keeps it locked.") = error else {
              throw error
            }
            try Task.checkCancellation()
          }
        }
      }
      try await group.waitForAll()
    }
    let lines = try directory.text("known_hosts").split(separator: "\n")
    #expect(Set(lines) == Set((0..<16).map { "line \($0)" }))
  }
}
