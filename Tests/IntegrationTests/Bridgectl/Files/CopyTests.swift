import BridgeFaults
import BridgeSSH
import BridgeTestKit
import Foundation
import Testing

extension SSHServer {
  /// Runs `cp` to or from it.
  nonisolated func copy(
    _ arguments: [String], _ home: Home, port: Int? = nil
  ) async throws -> Outcome {
    try await home.run(["cp"] + link(home, port: port) + arguments)
  }
}

extension Home {
  /// Bytes that differ everywhere, as a file of this home.
  func fill(_ name: String, _ count: Int) throws -> Data {
    var generator = SplitMix64(seed: UInt64(count))
    var bytes = Data(capacity: count + 70_000)
    let words = (0..<(min(count, 1 << 16) / 8 + 1)).map { _ in generator.next() }
    let block = words.flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
    var number: UInt8 = 0
    while bytes.count < count {
      // No two blocks are the same.
      bytes.append(contentsOf: block)
      bytes.append(number)
      number &+= 1
    }
    let data = Data(bytes.prefix(count))
    try data.write(to: URL(filePath: file(name)))
    return data
  }

  func data(_ name: String) -> Data? { FileManager.default.contents(atPath: file(name)) }

  /// What copies have left of their own.
  func remains(in folder: String = "") -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: file(folder))
    return (names ?? []).filter { $0.hasPrefix(".bridge") }
  }
}

/// `bridgectl cp` over a real sshd with `bridge-host`.
@Suite(.timeLimit(.minutes(5))) struct CopyTests {
  private let host = "127.0.0.1"

  /// No faster than it may, and whole.
  @Test(arguments: [true, false], ["1", "2"])
  func aLimitHoldsACopyBack(isPut: Bool, streams: String) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 1 << 20)
      let (from, to) = (home.file("a"), home.file("b"))
      let operands = isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
      let begin = ContinuousClock.now
      let options = ["--limit", "512K", "--streams", streams]
      let outcome = try await server.copy(options + operands, home)
      #expect(outcome.code == 0 && home.data("b") == data, "\(outcome.error)")
      // What the last reads and writes bring is not waited for.
      #expect(ContinuousClock.now - begin > .seconds(1))
    }
  }

  @Test(arguments: [true, false])
  func aFileIsCopiedWithItsModeAndTime(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 700_001)
      FileDetails.setMode(home.file("a"), 0o640)
      let (from, to) = (home.file("a"), home.file("b"))
      let operands = isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
      let outcome = try await server.copy(operands, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.output.isEmpty)
      #expect(outcome.error.hasPrefix("bridgectl: copied 1 file, 683.5 KiB"), "\(outcome.error)")
      #expect(home.data("b") == data)
      #expect(FileDetails.of(to) == FileDetails.of(from))
      #expect(FileDetails.of(to)[0] & 0o777 == 0o640)
      #expect(home.remains().isEmpty)
    }
  }

  /// Every connection is reset after 5 MiB, in the middle of the file.
  @Test(arguments: [true, false])
  func aCopyGoesOnAtTheByteOverManyBreaks(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 48 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 5 << 20, isPut ? .toServer : .toClient), on: .all)
      let (from, to) = (home.file("a"), home.file("b"))
      let operands = isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
      let check = isPut ? ["--sha256"] : []
      let outcome = try await server.copy(operands + check + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
      let continued = try outcome.events("copyContinued").compactMap { $0["from"] as? Int }
      #expect(continued.count >= 8, "\(continued)")
      #expect(continued == continued.sorted(), "\(continued)")
      let file = try #require(try outcome.events("fileCopied").first)
      #expect(file["bytes"] as? Int == 48 << 20)
      let digest = Digest.sha256(Array(data)).map { String(format: "%02x", $0) }.joined()
      #expect(file["sha256"] as? String == (isPut ? digest : nil))
    }
  }

  /// The link is reset every few hundred milliseconds, once files flow over it.
  @Test(arguments: [true, false])
  func aCopyOutlivesResetsEveryFewHundredMilliseconds(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 64 << 20)
      let proxy = try await FaultProxy(to: server.port)
      // So slow that it lasts for many of them.
      try await proxy.inject(.bandwidth(40 << 20))
      let resets = Task {
        while (try? await ContinuousClock().sleep(for: .milliseconds(300))) != nil {
          let isFlowing = await proxy.connections.values.contains {
            $0.toServer + $0.toClient > 2 << 20
          }
          if isFlowing { try? await proxy.inject(.reset) }
        }
      }
      let (from, to) = (home.file("a"), home.file("b"))
      let operands = isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
      let outcome = try await server.copy(operands + ["--json"], home, port: proxy.port)
      resets.cancel()
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func aTreeIsCopiedOverBreaks(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      for index in 0..<400 {
        try home.write("file \(index)", to: "t/d\(index % 7)/e\(index % 3)/f\(index)")
      }
      _ = try home.fill("t/d0/large", 3 << 20)
      try FileManager.default.createSymbolicLink(
        atPath: home.file("t/link"), withDestinationPath: "d0/large")
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 600_000, isPut ? .toServer : .toClient), on: .all)
      let (from, to) = (home.file("t"), home.file("u"))
      let operands = isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
      let outcome = try await server.copy(["-r", "--json"] + operands, home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      let compare = try await home.run(
        ["-r", "--no-dereference", from, to], program: "/usr/bin/diff")
      #expect(compare.code == 0, "\(compare.text)")
      let names = try FileManager.default.subpathsOfDirectory(atPath: to)
      #expect(!names.contains { $0.contains(".bridge") })
      let ended = try #require(try outcome.events("copyEnded").first)
      #expect(ended["files"] as? Int == 401 && ended["failed"] as? Int == 0)
    }
  }

  @Test func aPathIsFromTheHomeDirectoryAndADirectoryGetsTheName() async throws {
    try await withSessions { server, home, folder in
      let data = try home.fill("a", 1000)
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/into", withIntermediateDirectories: true)
      for destination in ["\(host):into", "\(host):", "\(host):~/into/b"] {
        let outcome = try await server.copy([home.file("a"), destination], home)
        #expect(outcome.code == 0, "\(outcome.error)")
      }
      for name in ["into/a", "a", "into/b"] {
        #expect(FileManager.default.contents(atPath: "\(folder.path)/\(name)") == data)
      }
    }
  }

  @Test(
    arguments: [
      (["/nothing-there", "127.0.0.1:x"], 66, "fileNotFound"),
      (["127.0.0.1:nothing-there", "x"], 66, "fileNotFound"),
      (["/tmp", "127.0.0.1:x"], 66, "fileReadError"),
      (["127.0.0.1:/tmp", "x"], 66, "fileReadError"),
      (["/etc/passwd", "127.0.0.1:/no-such/place"], 73, "fileWriteError"),
      (["127.0.0.1:/etc/passwd", "/no-such/place"], 73, "fileWriteError"),
      (["/etc/passwd", "127.0.0.1:/proc/x"], 73, "fileWriteError"),
      (["a", "b"], 64, "validationError"), (["127.0.0.1:a", "127.0.0.1:b"], 64, "validationError"),
    ] as [([String], Int32, String)])
  func whatCannotBeCopiedIsNamed(
    _ operands: [String], _ code: Int32, _ name: String
  ) async throws {
    try await withSessions { server, home, _ in
      let outcome = try await server.copy(operands, home)
      #expect(outcome.code == code, "\(outcome.error)")
      #expect(outcome.lastLine.contains("[\(name)]"), "\(outcome.error)")
    }
  }

  /// A forced command that is no shell: neither bridge-host nor anything else answers.
  @Test func aHostThatRunsNothingIsNamedWithWhatHelps() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "echo bridge-host-is-not-installed; exit 127"
    try await withServer(configuration) { server, home in
      try home.write("x", to: "f")
      let outcome = try await server.copy([home.file("f"), "\(host):f"], home)
      #expect(outcome.code == 78, "\(outcome.error)")
      #expect(outcome.lastLine.contains("[featureUnavailable]"), "\(outcome.error)")
      #expect(outcome.error.contains("cp needs a shell there"), "\(outcome.error)")
      // Nothing can be installed there.
      #expect(!outcome.error.contains("bridgectl install"), "\(outcome.error)")
    }
  }

  /// As where bridgectl is ended: the same command goes on, and an old process of the host does not
  /// write beside the new one.
  @Test func anEndedCopyGoesOnInALaterRun() async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 24 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(8 << 20))
      let operands = [home.file("a"), "\(host):\(home.file("b"))"]
      let running = try home.start(["cp"] + server.link(home, port: proxy.port) + operands)
      // Once a part of it is there.
      while home.remains().allSatisfy({ (home.data($0)?.count ?? 0) < 1 << 20 }) {
        try await ContinuousClock().sleep(for: .milliseconds(20))
      }
      running.child.signal(SIGTERM)
      let first = try await running.outcome()
      #expect(first.code == 143)
      #expect(first.error.contains("the same command goes on with it"), "\(first.error)")
      #expect(home.data("b") == nil)
      try await proxy.heal()
      let second = try await server.copy(operands + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(second.code == 0 && home.data("b") == data, "\(second.error)")
      let continued = try #require(try second.events("copyContinued").first)
      #expect(continued["from"] as? Int ?? 0 >= 1 << 20)
      #expect(home.remains().isEmpty)
    }
  }

  /// A copy of a tree with one large file over a link of 400 KiB/s, once the host has some of it: a
  /// window of SSH would take five seconds.
  private func withTreeUnderWay(
    hasBridgeHost: Bool = true,
    _ body: (Home.Running, Home, FaultProxy) async throws -> Void
  ) async throws {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      _ = try home.fill("large", 24 << 20)
      try FileManager.default.createDirectory(
        atPath: home.file("s"), withIntermediateDirectories: true)
      try FileManager.default.moveItem(atPath: home.file("large"), toPath: home.file("s/large"))
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(400 << 10))
      let operands = [home.file("s"), "\(host):\(home.file("d"))"]
      let running = try home.start(["cp", "-r"] + server.link(home, port: proxy.port) + operands)
      try await eventually {
        home.remains(in: "d").contains { (home.data("d/" + $0)?.count ?? 0) > 256 << 10 }
      }
      try await body(running, home, proxy)
      await proxy.stop()
    }
  }

  /// The same command would begin another tree: nothing is left that no run continues.
  @Test(arguments: [true, false])
  func aTreeToAHostThatIsEndedLeavesNoPart(hasBridgeHost: Bool) async throws {
    try await withTreeUnderWay(hasBridgeHost: hasBridgeHost) { running, home, _ in
      running.child.signal(SIGTERM)
      let outcome = try await running.outcome()
      #expect(outcome.code == 143 && !outcome.error.contains("may be left"), "\(outcome.error)")
      #expect(home.remains(in: "d").isEmpty)
      #expect(home.data("d/large") == nil)
    }
  }

  @Test func aTreeThatIsEndedOverAFrozenLinkSaysWhatMayBeLeft() async throws {
    try await withTreeUnderWay { running, home, proxy in
      try await proxy.inject(.freeze())
      running.child.signal(SIGTERM)
      let outcome = try await running.outcome()
      #expect(outcome.code == 143)
      let words = "127.0.0.1 did not say that it removed the part of a file"
      #expect(outcome.error.contains(words), "\(outcome.error)")
    }
  }

  @Test(arguments: [true, false])
  func eventsNameTheFileInADestinationThatIsADirectory(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      try home.write("x", to: "s/big")
      try home.write("", to: "d/other")
      let (from, to) = (home.file("s"), home.file("d"))
      let operands = isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
      let outcome = try await server.copy(["-r", "--json"] + operands, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      let paths = try outcome.events("fileCopied").compactMap { $0["path"] as? String }
      #expect(paths == [(isPut ? "\(host):" : "") + home.file("d/s/big")])
    }
  }

  @Test func aDirectoryInPlaceOfTheFileStays() async throws {
    try await withSessions { server, home, folder in
      try home.write("x", to: "f")
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/into/f/kept", withIntermediateDirectories: true)
      let outcome = try await server.copy([home.file("f"), "\(host):into"], home)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("it is a directory"), "\(outcome.error)")
    }
  }

  /// As a tmpfs without a limit does, and others that grow with what is written.
  @Test(.enabled(if: geteuid() == 0)) func aFileSystemWithoutASizeIsWritten() async throws {
    try await withSessions { server, home, folder in
      let disk = "\(folder.path)/disk"
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      let mount = try await home.run(
        ["-t", "tmpfs", "-o", "size=0", "none", disk], program: "/bin/mount")
      guard mount.code == 0 else { return }
      _ = try home.fill("a", 2 << 20)
      let outcome = try await server.copy([home.file("a"), "\(host):disk/a"], home)
      let copy = FileManager.default.contents(atPath: "\(disk)/a")
      _ = try await home.run(["-l", disk], program: "/bin/umount")
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(copy == home.data("a"))
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func aFullDiskIsSaidBeforeAByteIsSent() async throws {
    try await withSessions { server, home, folder in
      let disk = "\(folder.path)/disk"
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      let mount = try await home.run(
        ["-t", "tmpfs", "-o", "size=4m", "none", disk], program: "/bin/mount")
      guard mount.code == 0 else { return }
      _ = try home.fill("a", 8 << 20)
      let outcome = try await server.copy([home.file("a"), "\(host):disk/a"], home)
      // Small ones, until it is full.
      try home.write("", to: "t/empty")
      for index in 0..<20 { _ = try home.fill("t/f\(index)", 500_000) }
      let operands = ["-r", home.file("t"), "\(host):disk/t"]
      let tree = try await server.copy(operands, home)
      try FileManager.default.removeItem(atPath: "\(disk)/t")
      let events = try await server.copy(operands + ["--json"], home)
      _ = try await home.run(["-l", disk], program: "/bin/umount")
      #expect(outcome.code == 73)
      #expect(outcome.lastLine.contains("[insufficientDiskSpace]"), "\(outcome.error)")
      #expect(
        outcome.error.contains("there is no space for \(host):disk/a."), "\(outcome.error)")
      #expect(!outcome.error.contains("what was copied is kept"), "\(outcome.error)")
      #expect(tree.code == 73)
      #expect(tree.lastLine.contains("No space left on device"), "\(tree.error)")
      // The file that had no space, those that are in place, and the end.
      #expect(tree.lastLine.contains("disk/t/f"), "\(tree.error)")
      #expect(!tree.error.contains("may be left"), "\(tree.error)")
      let copied = try events.events("fileCopied").count
      #expect(copied >= 4, "\(events.error)")
      let ended = try #require(try events.events("copyEnded").first)
      #expect(ended["files"] as? Int == copied)
    }
  }
}

extension Outcome {
  /// The lines of one event.
  func events(_ name: String) throws -> [[String: Any]] {
    try error.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }.filter { $0["event"] as? String == name }
  }
}
