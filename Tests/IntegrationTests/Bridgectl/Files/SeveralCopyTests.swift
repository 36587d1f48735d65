import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl cp` of several sources over a real sshd.
@Suite(.timeLimit(.minutes(5))) struct SeveralCopyTests {
  private let host = "127.0.0.1"

  /// Operands that copy `sources` into `destination`, to or from the host.
  private func operands(
    _ home: Home, isPut: Bool, _ sources: [String], into destination: String = "d"
  ) -> [String] {
    let (sources, destination) = (sources.map(home.file), home.file(destination))
    return isPut
      ? sources + ["\(host):\(destination)"] : sources.map { "\(host):\($0)" } + [destination]
  }

  private func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  // MARK: What is refused

  /// Nothing is dialed: there is no such host.
  @Test(
    arguments: [
      (["f", "none.invalid:a", "none.invalid:"], 64, "others are here"),
      (["none.invalid:a", "other.invalid:b", "."], 64, "different hosts"),
      (["f", "d/f", "none.invalid:"], 64, "would have the same name"),
      (["none.invalid:a", "none.invalid:b", "f"], 73, "f could not be written: it is not a dir"),
      (["none.invalid:a", "none.invalid:b", "no"], 73, "no could not be written: it does not exi"),
      (["no", "nor", "none.invalid:"], 66, "no could not be read: there is no such file; nor: "),
      (["--streams", "2", "f", "g", "none.invalid:"], 64, "It copies one file, not several"),
      (["f"], 64, "Missing expected argument '<DST>'"),
      (["-rp", "f", "none.invalid:"], 64, "-p is the port here, and '"),
      (["f", "none.invalid:d/\(Self.longName)"], 73, "could not be written: File name too long"),
      (["none.invalid:f", Self.longName], 73, "could not be written: File name too long"),
      (["none.invalid:d/\(Self.longName)/f", "."], 66, "could not be read: File name too long"),
      ([Self.longName, "none.invalid:"], 66, "could not be read: File name too long"),
    ] as [([String], Int32, String)])
  func whatCannotBeCopiedIsSaidBeforeADial(
    _ arguments: [String], _ code: Int32, _ words: String
  ) async throws {
    let home = try Home()
    for name in ["f", "g", "d/f"] { try home.write("x", to: name) }
    let local = arguments.map { ["f", "g", "d/f"].contains($0) ? home.file($0) : $0 }
    let outcome = try await home.run(["cp", "-F", "none"] + local)
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(outcome.lastLine.contains(words) || outcome.error.contains(words), "\(outcome.error)")
  }

  /// One byte longer than a name may be.
  private static let longName = String(repeating: "z", count: 256)

  /// The host's end is asked before anything is written, with and without `bridge-host`.
  @Test(arguments: ["f", "none", "none/"], [true, false])
  func aDestinationOfTheHostThatIsNoDirectoryIsNamed(
    _ destination: String, hasBridgeHost: Bool
  ) async throws {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      for name in ["a", "b", "f"] { try home.write(name, to: name) }
      let operands = operands(home, isPut: true, ["a", "b"], into: destination)
      let outcome = try await server.copy(operands + ["--json"], home)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("several sources need a directory there"), "\(outcome.error)")
      #expect(outcome.error.contains("\(host):\(home.file(destination))"), "\(outcome.error)")
      #expect(try outcome.events("fileCopied").isEmpty)
      #expect(home.data("f") == Data("f".utf8) && home.data("none") == nil)
      #expect(home.remains().isEmpty)
    }
  }

  // MARK: What is copied

  @Test(arguments: [true, false], [true, false])
  func severalAreCopiedIntoADirectory(isPut: Bool, hasBridgeHost: Bool) async throws {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      let (a, b) = (try home.fill("a", 700_001), try home.fill("b", 90_000))
      try home.write("", to: "c")
      try makeDirectory(home.file("d"))
      let operands = operands(home, isPut: isPut, ["a", "b", "c"])
      let outcome = try await server.copy(operands, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(
        outcome.lastLine.hasPrefix("bridgectl: copied 3 files, 771.4 KiB"), "\(outcome.error)")
      #expect(outcome.error.components(separatedBy: "copied").count == 2, "\(outcome.error)")
      let notice = outcome.error.components(separatedBy: "copies with its own tools").count - 1
      #expect(notice == (hasBridgeHost ? 0 : 1), "\(outcome.error)")
      #expect(home.data("d/a") == a && home.data("d/b") == b && home.data("d/c") == Data())
      #expect(FileDetails.of(home.file("d/a"))[0] == FileDetails.of(home.file("a"))[0])
      #expect(home.remains(in: "d").isEmpty)
    }
  }

  @Test(arguments: [true, false], [true, false])
  func treesAndFilesAreCopiedTogether(isPut: Bool, hasBridgeHost: Bool) async throws {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      try home.write("1", to: "s/one")
      try home.write("2", to: "t/u/two")
      try home.write("3", to: "f")
      try makeDirectory(home.file("d"))
      let operands = operands(home, isPut: isPut, ["s", "t/", "f"])
      let outcome = try await server.copy(["-r", "--json"] + operands, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      for (name, text) in [("s/one", "1"), ("t/u/two", "2"), ("f", "3")] {
        #expect(home.data("d/\(name)") == Data(text.utf8))
      }
      let sources = try outcome.events("copyStarted").compactMap { $0["source"] as? String }
      #expect(sources == Array(operands.dropLast()))
      let ended = try outcome.events("copyEnded")
      #expect(ended.count == 1 && ended.first?["files"] as? Int == 3, "\(ended)")
      #expect(ended.first?["bytes"] as? Int == 3)
    }
  }

  /// One is not there, one is a directory; the others are copied.
  @Test(arguments: [true, false], [true, false])
  func oneThatFailsIsNamedAndTheOthersAreCopied(isPut: Bool, hasBridgeHost: Bool) async throws {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      for name in ["a", "b", "s/x"] { try home.write(name, to: name) }
      try makeDirectory(home.file("d"))
      let operands = operands(home, isPut: isPut, ["a", "none", "s", "b"])
      let outcome = try await server.copy(operands, home)
      #expect(outcome.code == 66, "\(outcome.error)")
      #expect(outcome.lastLine.contains("[fileNotFound]"), "\(outcome.error)")
      let side = isPut ? "" : "\(host):"
      for words in ["none: there is no such file", "s: it is a directory; -r copies directories"] {
        #expect(
          outcome.error.contains("bridgectl: \(side)\(home.path)/\(words)"), "\(outcome.error)")
      }
      #expect(outcome.error.contains("copied 2 files"), "\(outcome.error)")
      #expect(outcome.error.contains("; 2 not copied."), "\(outcome.error)")
      #expect(home.data("d/a") != nil && home.data("d/b") != nil)
      let events = try await server.copy(operands + ["--json"], home)
      let failed = try events.events("fileFailed").compactMap { $0["path"] as? String }
      #expect(failed == ["none", "s"].map { side + home.file($0) })
      #expect(try events.events("copyEnded").first?["failed"] as? Int == 2)
    }
  }

  /// A directory has the name of the first one.
  @Test(arguments: [true, false])
  func oneThatCannotBeWrittenIsNamedAndTheOthersAreCopied(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      for name in ["a", "b"] { try home.write(name, to: name) }
      try makeDirectory(home.file("d/a"))
      let outcome = try await server.copy(operands(home, isPut: isPut, ["a", "b"]), home)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("d/a: it is a directory"), "\(outcome.error)")
      #expect(home.data("d/b") == Data("b".utf8))
    }
  }

  /// It holds for all that come after it: what is there, and where it ended, is said.
  @Test(.enabled(if: geteuid() == 0), arguments: [true, false])
  func aFullDiskIsSaidWithWhatWasCopied(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      try makeDirectory(home.file("d"))
      let mount = try await home.run(
        ["-t", "tmpfs", "-o", "size=2m", "none", home.file("d")], program: "/bin/mount")
      guard mount.code == 0 else { return }
      let first = try home.fill("a", 1 << 20)
      _ = try home.fill("b", 4 << 20)
      try home.write("c", to: "c")
      let outcome = try await server.copy(operands(home, isPut: isPut, ["a", "b", "c"]), home)
      let copied = home.data("d/a")
      _ = try await home.run(["-l", home.file("d")], program: "/bin/umount")
      #expect(outcome.code == 73 && copied == first, "\(outcome.error)")
      #expect(outcome.error.contains("copied 1 file, "), "\(outcome.error)")
      #expect(
        outcome.error.contains("\(home.file("b")) is not, nor what comes after it."),
        "\(outcome.error)")
      #expect(outcome.lastLine.contains("[insufficientDiskSpace]"), "\(outcome.error)")
    }
  }

  /// That another run writes one of them does not hold for the others.
  @Test func oneThatAnotherRunWritesIsNamedAndTheOthersAreCopied() async throws {
    try await withSessions { server, home, _ in
      _ = try home.fill("a", 24 << 20)
      try home.write("small", to: "b")
      try makeDirectory(home.file("d"))
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(1 << 20))
      let link = server.link(home, port: proxy.port)
      let writing = try home.start(["cp"] + link + operands(home, isPut: true, ["a"]))
      try await eventually { !home.remains(in: "d").isEmpty }
      let both = operands(home, isPut: true, ["a", "b"])
      let outcome = try await server.copy(both, home, port: proxy.port)
      writing.child.signal(SIGTERM)
      _ = try await writing.outcome()
      await proxy.stop()
      #expect(outcome.code == 73, "\(outcome.error)")
      let words = "bridgectl: \(host):\(home.file("d/a")): another copy is writing it"
      #expect(outcome.error.contains(words), "\(outcome.error)")
      #expect(home.data("d/b") == Data("small".utf8))
    }
  }

  // MARK: Links and runs

  /// Every connection is reset after 3 MiB, in the middle of one of them.
  @Test(arguments: [true, false], [true, false])
  func severalAreCopiedOverBreaks(isPut: Bool, hasBridgeHost: Bool) async throws {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      let names = ["a", "b", "c"]
      let data = try names.enumerated().map { try home.fill($1, 4 << 20 + $0) }
      try makeDirectory(home.file("d"))
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 3 << 20, isPut ? .toServer : .toClient), on: .all)
      let operands = operands(home, isPut: isPut, names)
      let outcome = try await server.copy(operands + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      #expect(names.map { home.data("d/\($0)") } == data)
      #expect(home.remains(in: "d").isEmpty)
      #expect(try outcome.events("copyContinued").count >= 3)
      #expect(try outcome.events("copyStarted").count == 3)
      #expect(try outcome.events("fileCopied").count == 3)
      let ended = try #require(try outcome.events("copyEnded").first)
      #expect(ended["bytes"] as? Int == data.reduce(0) { $0 + $1.count })
    }
  }

  /// The first is in place when the run ends; of the second a part is.
  @Test func anEndedCopyGoesOnInALaterRun() async throws {
    try await withSessions { server, home, _ in
      try home.write("small", to: "a")
      let data = try home.fill("b", 24 << 20)
      try makeDirectory(home.file("d"))
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(8 << 20))
      let operands = operands(home, isPut: true, ["a", "b"])
      let running = try home.start(["cp"] + server.link(home, port: proxy.port) + operands)
      try await eventually {
        home.remains(in: "d").contains { (home.data("d/" + $0)?.count ?? 0) > 1 << 20 }
      }
      running.child.signal(SIGINT)
      let first = try await running.outcome()
      #expect(first.code == 130, "\(first.error)")
      let words = "what was copied of \(host):\(home.file("d/b")) is kept; the same command goes on"
      #expect(first.error.contains(words), "\(first.error)")
      #expect(home.data("d/a") == Data("small".utf8) && home.data("d/b") == nil)
      try await proxy.heal()
      let second = try await server.copy(operands + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(second.code == 0 && home.data("d/b") == data, "\(second.error)")
      let continued = try #require(try second.events("copyContinued").first)
      #expect(continued["from"] as? Int ?? 0 >= 1 << 20)
      #expect(home.remains(in: "d").isEmpty)
    }
  }

  /// A server that allows one channel at a time.
  @Test(arguments: [true, false]) func oneChannelAtATimeIsEnough(isPut: Bool) async throws {
    var configuration = SSHServerConfiguration()
    configuration.maxSessions = 1
    try await withServer(configuration) { server, home in
      let names = (0..<20).map { "f\($0)" }
      for name in names { try home.write(name, to: name) }
      try makeDirectory(home.file("d"))
      let sources = isPut ? names : ["f?", "f1?"]
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.latency(.milliseconds(30)))
      let operands = operands(home, isPut: isPut, sources)
      let outcome = try await server.copy(operands, home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error)")
      for name in names { #expect(home.data("d/\(name)") == Data(name.utf8)) }
    }
  }

  // MARK: Patterns

  @Test(arguments: [true, false]) func aPatternOfTheHostIsExpandedThere(hasBridgeHost: Bool)
    async throws
  {
    try await withSessions(installs: hasBridgeHost) { server, home, _ in
      for name in ["l/a.gz", "l/b.gz", "l/c.txt", "m/x1", "m/x2", "m/x3"] {
        try home.write(name, to: name)
      }
      try makeDirectory(home.file("d"))
      let operands = operands(home, isPut: false, ["l/*.gz", "m/x[13]", "l/c.txt"])
      let outcome = try await server.copy(operands + ["--json"], home)
      #expect(outcome.code == 0, "\(outcome.error)")
      let names = try FileManager.default.contentsOfDirectory(atPath: home.file("d")).sorted()
      #expect(names == ["a.gz", "b.gz", "c.txt", "x1", "x3"])
      let sources = try outcome.events("copyStarted").compactMap { $0["source"] as? String }
      #expect(sources.first == "\(host):\(home.file("l/a.gz"))" && sources.count == 5)
    }
  }

  @Test func aPatternThatStandsForNothingIsNamed() async throws {
    try await withSessions { server, home, _ in
      try home.write("a", to: "a")
      try makeDirectory(home.file("d"))
      let alone = try await server.copy(operands(home, isPut: false, ["no*"]), home)
      #expect(alone.code == 66, "\(alone.error)")
      #expect(alone.lastLine.contains("\(host):\(home.path)/no* could not be read: nothing there"))
      let beside = try await server.copy(operands(home, isPut: false, ["no*", "a"]), home)
      #expect(beside.code == 66, "\(beside.error)")
      let words = "bridgectl: \(host):\(home.path)/no*: nothing there matches it"
      #expect(beside.error.contains(words), "\(beside.error)")
      #expect(home.data("d/a") == Data("a".utf8))
    }
  }

  /// As before there were patterns; one name needs no directory.
  @Test func aNameOrPatternOfOneFileIsCopiedToAFile() async throws {
    try await withSessions { server, home, _ in
      try home.write("itself", to: "a[1]")
      try home.write("other", to: "a1")
      let literal = try await server.copy(operands(home, isPut: false, ["a[1]"], into: "b"), home)
      #expect(literal.code == 0 && home.data("b") == Data("itself".utf8), "\(literal.error)")
      let one = try await server.copy(operands(home, isPut: false, ["?1"], into: "c"), home)
      #expect(one.code == 0 && home.data("c") == Data("other".utf8), "\(one.error)")
      let two = try await server.copy(operands(home, isPut: false, ["a*"], into: "e"), home)
      #expect(two.code == 73 && home.data("e") == nil, "\(two.error)")
      #expect(two.error.contains("several sources need a directory there"), "\(two.error)")
    }
  }

  @Test func foundNamesThatAreTheSameAreRefused() async throws {
    try await withSessions { server, home, _ in
      for name in ["x/a", "y/a"] { try home.write(name, to: name) }
      try makeDirectory(home.file("d"))
      let outcome = try await server.copy(operands(home, isPut: false, ["?/a"]), home)
      #expect(outcome.code == 64, "\(outcome.error)")
      #expect(outcome.error.contains("would have the same name in DST"), "\(outcome.error)")
      #expect(home.data("d/a") == nil)
    }
  }

  private static let shells = ["fish", "tcsh", "zsh"].filter {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
  }

  /// Whatever login shell reads the command: none of them sees a name.
  @Test(arguments: shells) func namesAreNotReadByTheLoginShell(_ shell: String) async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "exec /usr/bin/\(shell) -c \"$SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server, home in
      let names = ["$(touch x)", "`touch x`", ";touch x;", "a b", "two\nlines", "'", "é"]
      for name in names { try home.write(name, to: "s/\(name)") }
      #expect(FileDetails.make([0xFF, 0xFE], in: home.file("s")))
      try makeDirectory(home.file("d"))
      let outcome = try await server.copy(operands(home, isPut: false, ["s/*"]), home)
      #expect(outcome.code == 0, "\(outcome.error)")
      let compare = try await home.run(
        ["-r", home.file("s"), home.file("d")], program: "/usr/bin/diff")
      #expect(compare.code == 0, "\(compare.text)")
    }
  }
}
