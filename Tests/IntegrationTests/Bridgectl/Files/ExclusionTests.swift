import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `cp -r --exclude`: what is left out is what rsync(1) leaves out of the content of a directory.
@Suite(.timeLimit(.minutes(5))) struct ExclusionTests {
  private static let files = [
    "main.c", "main.o", ".hidden.o", "build/x", "lib/build/y", "lib/a.o", "lib/b.c",
    "node_modules/p/index.js", "lib/node_modules/q", "cache/a.tmp", "cache/b.txt",
    "deep/cache/c.tmp", "deep/cache/sub/d.tmp", "name with space/e", "x[1]/f", "docs/node_modules",
  ]

  private func makeTree(_ home: Home) throws {
    for name in Self.files {
      let place = URL(filePath: home.file("tree/\(name)"))
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(name.utf8).write(to: place)
    }
    try FileManager.default.createSymbolicLink(
      atPath: home.file("tree/lib/link.o"), withDestinationPath: "b.c")
  }

  /// All that is below a folder of the home, sorted.
  private func names(_ home: Home, _ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: home.file(folder)).sorted()
  }

  private static let patterns: [[String]] = [
    ["*.o"], ["node_modules/"], ["node_modules"], ["/build"], ["build"], ["cache/*.tmp"],
    ["*"], ["*.o", "/lib/build/", "name with space", "x\\[1]"], ["nothing"], ["[!m]*"],
  ]

  @Test(arguments: patterns)
  func itLeavesOutWhatRsyncDoes(patterns: [String]) async throws {
    let exclude = patterns.flatMap { ["--exclude", $0] }
    let check = { (server: SSHServer, home: Home) in
      try makeTree(home)
      let oracle = try await home.run(
        ["-r", "-l"] + exclude + [home.file("tree/"), home.file("theirs")],
        program: "/usr/bin/rsync")
      #expect(oracle.code == 0, "\(oracle.error)")
      let expected = try names(home, "theirs")
      for isPut in [true, false] {
        let (from, to) = (home.file("tree/."), home.file("ours-\(isPut)"))
        let operands = isPut ? [from, "127.0.0.1:\(to)"] : ["127.0.0.1:\(from)", to]
        let outcome = try await server.copy(["-r", "--json"] + exclude + operands, home)
        #expect(outcome.code == 0, "\(outcome.error)")
        #expect(try names(home, "ours-\(isPut)") == expected)
        // What is left out is not counted.
        let files = try outcome.events("copyEnded").compactMap { $0["files"] as? Int }
        let isFile = { (name: String) in
          try FileManager.default.attributesOfItem(atPath: home.file("theirs/\(name)"))[.type]
            as? FileAttributeType == .typeRegular
        }
        #expect(try files == [expected.filter(isFile).count])
      }
    }
    try await withSessions { server, home, _ in try await check(server, home) }
    try await PlainHost.usual.with { server, home in try await check(server, home) }
  }

  /// The walk goes on behind what was left out.
  @Test(arguments: [true, false])
  func aCopyThatIsCutLeavesOutTheSame(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      try makeTree(home)
      for number in 0..<40 { _ = try home.fill("tree/lib/big-\(number).\(number % 2)", 100_000) }
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 500_000, isPut ? .toServer : .toClient), on: .all)
      let (from, to) = (home.file("tree"), home.file("copy"))
      let operands = isPut ? [from, "127.0.0.1:\(to)"] : ["127.0.0.1:\(from)", to]
      let outcome = try await server.copy(
        ["-r", "--exclude", "*.1", "--exclude", "node_modules/"] + operands, home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error)")
      let expected = try names(home, "tree").filter {
        !$0.hasSuffix(".1") && (!$0.contains("node_modules") || $0 == "docs/node_modules")
      }
      #expect(try names(home, "copy") == expected)
    }
  }

  @Test(arguments: [
    (["-r", "--exclude", "a//b"], "\"a//b\" fits no name"), (["--exclude", "*.o"], "it takes -r"),
    (["-r", "--exclude", ""], "fits no name"),
  ])
  func whatCanLeaveOutNothingIsRefused(arguments: [String], words: String) async throws {
    let home = try Home()
    let outcome = try await home.run(["cp"] + arguments + ["127.0.0.1:a", "b"])
    #expect(outcome.code == 64)
    #expect(outcome.error.contains(words), "\(outcome.error)")
  }
}
