import BridgeFaults
import Foundation
import Testing

/// What a host without `bridge-host` has.
enum PlainHost: String, CaseIterable {
  /// dash or bash, with the tools of coreutils.
  case usual
  /// No tool for SHA-256, and a login that prints.
  case poor
  /// No stat(1) either.
  case poorest
  /// Everything is busybox.
  case busybox

  static let busyboxProgram = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { "\($0)/busybox" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static var present: [PlainHost] { allCases.filter { $0 != .busybox || busyboxProgram != nil } }

  /// A server whose commands find those tools only.
  func with(_ body: (SSHServer, Home) async throws -> Void) async throws {
    let tools = try Home()
    var configuration = SSHServerConfiguration()
    switch self {
    case .usual: break
    case .poor, .poorest:
      let names =
        [
          "dd", "head", "tail", "cat", "mkdir", "mv", "chmod", "touch", "ls", "id", "readlink",
          "rm", "ln", "wc", "date",
        ] + (self == .poor ? ["stat"] : [])
      try tools.link(names.map { ($0, "/usr/bin/\($0)") })
      configuration.forceCommand =
        "echo Welcome; PATH=\(tools.path)/tools; eval \"$SSH_ORIGINAL_COMMAND\""
    case .busybox:
      let program = try #require(Self.busyboxProgram)
      let list = try await tools.run(["--list"], program: program).text
      try tools.link(list.split(separator: "\n").map { (String($0), program) })
      // The shell is that of busybox, too.
      configuration.forceCommand =
        "PATH=\(tools.path)/tools; eval \"$(printf %s \"$SSH_ORIGINAL_COMMAND\" "
        + "| sed s,exec./bin/sh,exec\\ sh,)\""
    }
    try await withServer(configuration, body)
  }
}

extension Home {
  /// Symbolic links in `tools`.
  fileprivate func link(_ names: [(String, String)]) throws {
    try FileManager.default.createDirectory(
      atPath: file("tools"), withIntermediateDirectories: true)
    for (name, program) in names {
      try FileManager.default.createSymbolicLink(
        atPath: file("tools/\(name)"), withDestinationPath: program)
    }
  }
}

/// `bridgectl cp` to and from a host that has no `bridge-host`.
@Suite(.timeLimit(.minutes(5))) struct PlainCopyTests {
  private let host = "127.0.0.1"

  private func operands(_ home: Home, isPut: Bool, _ from: String = "a", _ to: String = "b")
    -> [String]
  {
    let (from, to) = (home.file(from), home.file(to))
    return isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
  }

  @Test(arguments: PlainHost.present, [true, false])
  func aFileIsCopiedWithItsModeAndTimeInSeconds(_ kind: PlainHost, isPut: Bool) async throws {
    try await kind.with { server, home in
      let data = try home.fill("a", 700_001)
      FileDetails.setMode(home.file("a"), 0o640)
      let outcome = try await server.copy(operands(home, isPut: isPut), home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.output.isEmpty)
      #expect(outcome.error.contains("copies with its own tools"), "\(outcome.error)")
      #expect(outcome.error.contains("`bridgectl install -i "), "\(outcome.error)")
      let isTimed = kind != .poorest || isPut
      let times = isTimed ? "times in whole seconds" : "times are not kept"
      #expect(outcome.error.contains(times), "\(outcome.error)")
      let isHashed = [.usual, .busybox].contains(kind)
      #expect(outcome.error.contains("no tool for SHA-256") == !isHashed)
      let end = isHashed ? ", verified." : ", not verified."
      #expect(outcome.lastLine.hasSuffix(end), "\(outcome.error)")
      #expect(home.data("b") == data)
      let (source, copy) = (FileDetails.of(home.file("a")), FileDetails.of(home.file("b")))
      #expect(copy[0] == source[0] && copy[2] == 0)
      #expect(copy[1] == source[1] || !isTimed)
      #expect(home.remains().isEmpty)
    }
  }

  @Test(arguments: PlainHost.present) func aPipeOfTheHostKeepsItsName(_ kind: PlainHost)
    async throws
  {
    try await kind.with { server, home in
      try home.write("x", to: "a")
      #expect(FileDetails.makePipe(home.file("b")))
      let outcome = try await server.copy(operands(home, isPut: true), home)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("a device, a pipe or a socket has its name"))
      #expect(FileDetails.isPipe(home.file("b")) && home.remains().isEmpty)
    }
  }

  /// Shells say in different words that there is no such directory.
  @Test(arguments: PlainHost.present, ["none/b", "none/"])
  func aDirectoryThatIsNotThereIsNamed(_ kind: PlainHost, _ place: String) async throws {
    try await kind.with { server, home in
      try home.write("x", to: "a")
      let operands = [home.file("a"), "127.0.0.1:\(home.file(place))"]
      let outcome = try await server.copy(operands, home)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("(`mkdir -p`), or name one that is there"), "\(outcome.error)")
    }
  }

  @Test(arguments: PlainHost.present, [true, false])
  func aLinkToADeviceOfTheHostStays(_ kind: PlainHost, isPut: Bool) async throws {
    try await kind.with { server, home in
      try home.write("x", to: "a")
      for goal in ["/dev/null", "/proc/self/fd/1"] {
        try? FileManager.default.removeItem(atPath: home.file("b"))
        try FileManager.default.createSymbolicLink(
          atPath: home.file("b"), withDestinationPath: goal)
        let outcome = try await server.copy(operands(home, isPut: isPut), home)
        #expect(outcome.code == 73, "\(outcome.error)")
        #expect(outcome.error.contains("a device, a pipe or a socket has its name"))
        let kept = try FileManager.default.destinationOfSymbolicLink(atPath: home.file("b"))
        #expect(kept == goal && home.remains().isEmpty)
      }
    }
  }

  @Test(arguments: PlainHost.present, [true, false])
  func aDirectoryIsCopiedWithItsStickyBit(_ kind: PlainHost, isPut: Bool) async throws {
    try await kind.with { server, home in
      try home.write("x", to: "a/d/f")
      FileDetails.setMode(home.file("a/d"), 0o1777)
      let outcome = try await server.copy(["-r"] + operands(home, isPut: isPut), home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(FileDetails.of(home.file("b/d"))[0] & 0o7777 == 0o1777)
    }
  }

  @Test func theEventsNameTheTool() async throws {
    try await PlainHost.usual.with { server, home in
      try home.write("x", to: "a")
      let outcome = try await server.copy(operands(home, isPut: true) + ["--json"], home)
      #expect(try outcome.events("copyStarted").map { $0["tool"] as? String } == ["shell"])
      let file = try #require(try outcome.events("fileCopied").first)
      #expect((file["sha256"] as? String)?.hasPrefix("2d711642b726b044") == true)
      #expect(try outcome.events("copyEnded").count == 1)
    }
  }

  /// Every name that a file can have, links, an empty directory and an empty file.
  @Test(arguments: PlainHost.present, [true, false])
  func aTreeIsCopiedWhateverItsNamesAre(_ kind: PlainHost, isPut: Bool) async throws {
    try await kind.with { server, home in
      let names = [
        "-n", "--", "*", "[a]", "?", " ", "a b", "a\nb", "end\n", "'", "\"", "$(x)", "`x`", "\\",
        "\\n", "%s", "~", "#", ".h", "..x", "...", "é", "!", ";", "&", "-", "=", "\u{1b}[m",
        String(repeating: "n", count: 255),
      ]
      for name in names {
        try home.write("file \(name)", to: "a/\(name)")
        try home.write(name, to: "a/d\(name.prefix(200))/\(name)")
      }
      #expect(FileDetails.make([0xFF, 0xFE, 0x80, 0x0A], in: home.file("a")))
      try home.write("", to: "a/empty")
      let manager = FileManager.default
      try manager.createDirectory(atPath: home.file("a/none"), withIntermediateDirectories: true)
      for (name, target) in [
        ("link", "empty"), ("-l", "d-n/-n"), ("nl", "x\n"), ("up", "d*/../-n"),
      ] {
        try manager.createSymbolicLink(
          atPath: home.file("a/\(name)"), withDestinationPath: target)
      }
      FileDetails.setMode(home.file("a/-n"), 0o751)
      FileDetails.setMode(home.file("a/none"), 0o555)
      FileDetails.setTime(home.file("a/none"), seconds: 951_827_696, nanoseconds: 0)
      FileDetails.setTime(home.file("a/*"), seconds: -34_560_000, nanoseconds: 0)
      let outcome = try await server.copy(["-r", "--json"] + operands(home, isPut: isPut), home)
      // The link whose target goes down and up again leads out as far as a reader can tell.
      #expect(outcome.code == 66, "\(outcome.error.suffix(2000))")
      let failed = try outcome.events("fileFailed").compactMap { $0["path"] as? String }
      #expect(failed.count == 1 && failed[0].hasSuffix("/a/up"), "\(failed)")
      try manager.removeItem(atPath: home.file("a/up"))
      let compare = try await home.run(
        ["-r", "--no-dereference", home.file("a"), home.file("b")], program: "/usr/bin/diff")
      #expect(compare.code == 0, "\(compare.text)")
      for name in ["-n", "none", "*", ".h"] {
        let (source, copy) = (
          FileDetails.of(home.file("a/\(name)")), FileDetails.of(home.file("b/\(name)"))
        )
        #expect(copy[0] == source[0], "\(name)")
        #expect(copy[1] == source[1] || (kind == .poorest && !isPut), "\(name)")
      }
      let left = try manager.subpathsOfDirectory(atPath: home.file("b"))
      #expect(!left.contains { $0.contains(".bridge") })
    }
  }

  /// Each connection is reset after 5 MiB; where the host can hash, what arrived is not sent again.
  @Test(arguments: [true, false])
  func aCopyGoesOnOverBreaks(isPut: Bool) async throws {
    try await PlainHost.usual.with { server, home in
      let data = try home.fill("a", 24 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 5 << 20, isPut ? .toServer : .toClient), on: .all)
      let outcome = try await server.copy(
        operands(home, isPut: isPut) + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
      let continued = try outcome.events("copyContinued").compactMap { $0["from"] as? Int }
      #expect(continued.count >= 3 && continued == continued.sorted(), "\(continued)")
    }
  }

  /// What an earlier run has left running on the host may still write to its part.
  @Test func aPartThatIsStillWrittenIsContinuedInACopyOfIt() async throws {
    try await PlainHost.usual.with { server, home in
      let data = try home.fill("a", 8 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 5 << 20, .toServer))
      let operands = operands(home, isPut: true)
      let first = try await server.copy(
        ["--no-reconnect"] + operands, home, port: proxy.port)
      #expect(first.code == 69, "\(first.error)")
      let part = try #require(home.remains().first)
      let open = try FileHandle(forWritingTo: URL(fileURLWithPath: home.file(part)))
      try open.seekToEnd()
      let second = try await server.copy(operands + ["--json"], home, port: proxy.port)
      #expect(second.code == 0, "\(second.error)")
      #expect(try !second.events("copyContinued").isEmpty)
      try open.write(contentsOf: [1])
      #expect(home.data("b") == data)
      await proxy.stop()
    }
  }

  @Test(arguments: [true, false])
  func withoutAHashACopyBeginsAgainAfterABreak(isPut: Bool) async throws {
    try await PlainHost.poor.with { server, home in
      let data = try home.fill("a", 8 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 5 << 20, isPut ? .toServer : .toClient))
      let outcome = try await server.copy(
        operands(home, isPut: isPut) + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
      #expect(try outcome.events("copyContinued").isEmpty)
      #expect(try outcome.events("fileCopied").allSatisfy { $0["sha256"] == nil })
    }
  }

  @Test(arguments: [true, false])
  func aTreeGoesOnOverBreaks(isPut: Bool) async throws {
    try await PlainHost.usual.with { server, home in
      for index in 0..<60 { try home.write("file \(index)", to: "a/d\(index % 7)/f\(index)") }
      _ = try home.fill("a/d0/large", 3 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 900_000, isPut ? .toServer : .toClient), on: .all)
      let outcome = try await server.copy(
        ["-r", "--json"] + operands(home, isPut: isPut), home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      let compare = try await home.run(
        ["-r", home.file("a"), home.file("b")], program: "/usr/bin/diff")
      #expect(compare.code == 0, "\(compare.text)")
      let ended = try #require(try outcome.events("copyEnded").first)
      #expect(ended["files"] as? Int == 61 && ended["failed"] as? Int == 0)
      let left = try FileManager.default.subpathsOfDirectory(atPath: home.file("b"))
      #expect(!left.contains { $0.contains(".bridge") })
    }
  }

  /// The link breaks in the middle of small files, before an answer to any of them has arrived.
  @Test(arguments: [60_000, 90_000])
  func whatALinkWithoutAnAnswerLeftIsRemoved(count: Int) async throws {
    try await PlainHost.usual.with { server, home in
      for index in 0..<60 {
        try home.write(String(repeating: "\(index) ", count: 3000), to: "a/f\(index)")
      }
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.latency(.milliseconds(600), [.toClient]), on: .next)
      try await proxy.inject(.bandwidth(400_000, [.toServer]), on: .next)
      try await proxy.inject(.cut(after: count, .toServer), on: .next)
      let outcome = try await server.copy(
        ["-r", "--json"] + operands(home, isPut: true), home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      let compare = try await home.run(
        ["-r", home.file("a"), home.file("b")], program: "/usr/bin/diff")
      #expect(compare.code == 0, "\(compare.text)")
    }
  }

  @Test(
    arguments: [
      (["127.0.0.1:nothing-there", "x"], 66, "fileNotFound"),
      (["127.0.0.1:/tmp", "x"], 66, "fileReadError"),
      (["127.0.0.1:/proc/cpuinfo", "x"], 66, "fileReadError"),
      (["127.0.0.1:/dev/null", "x"], 66, "fileReadError"),
      (["/etc/passwd", "127.0.0.1:/no-such/place"], 73, "fileWriteError"),
      (["/etc/passwd", "127.0.0.1:/etc/hostname/"], 73, "fileWriteError"),
      (["/etc/passwd", "127.0.0.1:/proc/x"], 73, "fileWriteError"),
    ] as [([String], Int32, String)])
  func whatCannotBeCopiedIsNamed(
    _ operands: [String], _ code: Int32, _ name: String
  ) async throws {
    try await PlainHost.usual.with { server, home in
      let outcome = try await server.copy(operands, home)
      #expect(outcome.code == code, "\(outcome.error)")
      #expect(outcome.lastLine.contains("[\(name)]"), "\(outcome.error)")
    }
  }

  /// Links that lie in the destination are replaced, and not followed.
  @Test func aLinkInTheDestinationIsNotFollowed() async throws {
    try await PlainHost.usual.with { server, home in
      try home.write("new", to: "a/file")
      try home.write("below", to: "a/directory/file")
      try home.write("kept", to: "outside/file")
      try home.write("", to: "b/other")
      for name in ["file", "directory"] {
        try FileManager.default.createSymbolicLink(
          atPath: home.file("b/\(name)"),
          withDestinationPath: home.file(name == "file" ? "outside/file" : "outside"))
      }
      let outcome = try await server.copy(
        ["-r", home.file("a") + "/.", "\(host):\(home.file("b"))"], home)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(home.data("outside/file") == Data("kept".utf8))
      #expect(home.data("b/file") == Data("new".utf8))
    }
  }

  /// A host that names what no directory can have, or says less than it announced.
  @Test(
    arguments: [
      #"i -rw-r--r-- 3 1\n../x\000\000"#, #"i -rw-r--r-- 3 1\n/tmp/bridge-lie\000\000"#,
      #"i -rw-r--r-- 3 1\n..\000\000"#, #"i -rw-r--r-- 3 1\n\000\000"#, #"i what\n"#, #"x\n"#,
      #"i lrwxrwxrwx 3 1\nl\000/tmp\000i -rw-r--r-- 3 1\nl/x\000\000"#,
    ])
  func aLyingHostWritesNothing(_ listing: String) async throws {
    let script = """
      case $SSH_ORIGINAL_COMMAND in
      *bridge-host*) echo bridge-host-is-not-installed; exit 127 ;;
      esac
      printf %s "$SSH_ORIGINAL_COMMAND" |
        sed 's/.*printf %s%s \\([^ ]*\\) \\([^;]*\\);.*/\\1\\2/' | tr -d '\\n'
      echo tools y y far.1
      while read -r line; do
        case $line in
        "s "*) echo k drwxr-xr-x 1 1 ;;
        "w "*) printf 'k\n\(listing)k\n' ;;
        "g "*) printf 'k -rw-r--r-- 3 1 0\nabck 0 - -rw-r--r-- 3 1\n' ;;
        esac
      done
      """
    let home = try Home()
    try home.write(script, to: "lies")
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "/bin/sh \(home.file("lies"))"
    try await withServer(configuration) { server, _ in
      try home.write(await server.knownHosts, to: "known_hosts")
      let outcome = try await server.copy(
        ["-r", "\(host):/x", home.file("into/b")], home)
      #expect(outcome.code == 73, "\(outcome.error)")
      try FileManager.default.createDirectory(
        atPath: home.file("into"), withIntermediateDirectories: true)
      let again = try await server.copy(["-r", "\(host):/x", home.file("into/b")], home)
      #expect(again.code == 76, "\(again.error)")
      let left = try FileManager.default.subpathsOfDirectory(atPath: home.file("into"))
      #expect(left.allSatisfy { $0 == "b" }, "\(left)")
      #expect(!FileManager.default.fileExists(atPath: "/tmp/bridge-lie"))
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func aFullDiskEndsTheCopy() async throws {
    try await PlainHost.usual.with { server, home in
      try FileManager.default.createDirectory(
        atPath: home.file("disk"), withIntermediateDirectories: true)
      let mount = try await home.run(
        ["-t", "tmpfs", "-o", "size=4m", "none", home.file("disk")], program: "/bin/mount")
      guard mount.code == 0 else { return }
      _ = try home.fill("a", 8 << 20)
      let outcome = try await server.copy([home.file("a"), "\(host):\(home.file("disk/a"))"], home)
      let left = home.remains(in: "disk")
      _ = try await home.run(["-l", home.file("disk")], program: "/bin/umount")
      #expect(outcome.code == 73)
      #expect(outcome.lastLine.contains("No space left on device"), "\(outcome.error)")
      #expect(!outcome.error.contains("what was copied is kept"), "\(outcome.error)")
      #expect(left.isEmpty)
    }
  }
}
