import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// `bridgectl cp --streams` over a real sshd: one file over several connections.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
  private let host = "127.0.0.1"

  private func operands(_ home: Home, isPut: Bool) -> [String] {
    let (from, to) = (home.file("a"), home.file("b"))
    return isPut ? [from, "\(host):\(to)"] : ["\(host):\(from)", to]
  }

  /// Bytes of each connection that carried a part of a file of `size` bytes, once so many are over
  /// and have carried all of it. A dial that a busy machine turned away is none of them.
  private func carried(
    by proxy: FaultProxy, _ count: Int, of size: Int, isPut: Bool
  ) async throws -> [Int] {
    while true {
      let bytes = await proxy.log.compactMap { event -> Int? in
        guard case .closed(let sent, let received) = event.kind else { return nil }
        return isPut ? sent : received
      }
      if bytes.count >= count, bytes.reduce(0, +) >= size {
        return bytes.sorted().suffix(count)
      }
      try await ContinuousClock().sleep(for: .milliseconds(10))
    }
  }

  @Test(arguments: [true, false])
  func aFileComesOverSeveralConnections(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", (22 << 20) + 5)
      FileDetails.setMode(home.file("a"), 0o640)
      let proxy = try await FaultProxy(to: server.port)
      // Slower than a login: else the first connection carries what the others have not begun.
      try await proxy.inject(.bandwidth(1 << 20))
      let outcome = try await server.copy(
        ["--streams", "3", "--json"] + operands(home, isPut: isPut), home, port: proxy.port)
      let counts = try await carried(by: proxy, 3, of: data.count, isPut: isPut)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(home.data("b") == data)
      #expect(FileDetails.of(home.file("b")) == FileDetails.of(home.file("a")))
      #expect(home.remains().isEmpty)
      #expect(counts.allSatisfy { $0 > 4 << 20 }, "\(counts)")
      let files = try outcome.events("fileCopied")
      #expect(files.count == 1 && files[0]["bytes"] as? Int == data.count)
      let ended = try #require(try outcome.events("copyEnded").first)
      #expect(ended["files"] as? Int == 1 && ended["bytes"] as? Int == data.count)
    }
  }

  /// Where the first dial fails, the others are dialed after the one that succeeds.
  @Test func aHostThatIsNotUpAtFirstGetsAllConnections() async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 16 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(1 << 20))
      try await proxy.inject(.refuse(for: .seconds(1)))
      let outcome = try await server.copy(
        ["--wait", "--streams", "2"] + operands(home, isPut: true), home, port: proxy.port)
      let counts = try await carried(by: proxy, 2, of: data.count, isPut: true)
      await proxy.stop()
      #expect(outcome.code == 0 && home.data("b") == data, "\(outcome.error)")
      #expect(counts.allSatisfy { $0 > 4 << 20 }, "\(counts)")
    }
  }

  @Test(arguments: [true, false])
  func everyStreamGoesOnOverBreaks(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 64 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: 3 << 20, isPut ? .toServer : .toClient), on: .all)
      let outcome = try await server.copy(
        ["--streams", "4", "--json"] + operands(home, isPut: isPut), home, port: proxy.port)
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error.suffix(2000))")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
      let streams = try outcome.events("copyContinued").compactMap { $0["stream"] as? Int }
      #expect(Set(streams) == [1, 2, 3, 4], "\(streams)")
    }
  }

  /// The host takes the first connection only: that one carries all streams.
  @Test(arguments: [true, false])
  func connectionsThatAreNotToBeHadAreDoneWithout(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 30 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(8 << 20))
      let refusing = Task {
        _ = try await proxy.first { if case .accepted = $0.kind { true } else { false } }
        try await proxy.inject(.refuse())
      }
      let outcome = try await server.copy(
        ["--streams", "3"] + operands(home, isPut: isPut), home, port: proxy.port)
      try await refusing.value
      await proxy.stop()
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func anEndedCopyGoesOnInALaterRun(isPut: Bool) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 32 << 20)
      let proxy = try await FaultProxy(to: server.port)
      // Far slower than a busy machine may look at it.
      try await proxy.inject(.bandwidth(512 << 10))
      let arguments = ["--streams", "2"] + operands(home, isPut: isPut)
      let running = try home.start(["cp"] + server.link(home, port: proxy.port) + arguments)
      // The second stream has begun, too.
      while home.remains().allSatisfy({ home.size($0) < 5 << 20 }) {
        try await ContinuousClock().sleep(for: .milliseconds(20))
      }
      running.child.signal(SIGTERM)
      let first = try await running.outcome()
      #expect(first.code == 143)
      #expect(first.error.contains("the same command goes on with it"), "\(first.error)")
      try await proxy.heal()
      let second = try await server.copy(arguments + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(second.code == 0 && home.data("b") == data, "\(second.error)")
      let continued = try second.events("copyContinued").compactMap { $0["stream"] as? Int }
      #expect(Set(continued) == [1, 2], "\(continued)")
      #expect(home.remains().isEmpty)
    }
  }

  /// What was under way when it was ended is still written then.
  @Test func anEndedCopyGoesOnAtOnceOverASlowLink() async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 12 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(1 << 20))
      let arguments = operands(home, isPut: true)
      let running = try home.start(["cp"] + server.link(home, port: proxy.port) + arguments)
      try await eventually { home.remains().contains { home.size($0) > 2 << 20 } }
      running.child.signal(SIGTERM)
      #expect(try await running.outcome().code == 143)
      let second = try await server.copy(arguments + ["--json"], home, port: proxy.port)
      await proxy.stop()
      #expect(second.code == 0 && home.data("b") == data, "\(second.error)")
      #expect(try second.events("copyContinued").count == 1, "\(second.error)")
      #expect(home.remains().isEmpty)
    }
  }

  /// What it wrote is in place then, and is copied over, as scp does.
  @Test(arguments: [[], ["--streams", "2"]])
  func aCopyThatEndsMeanwhileLeavesItsFileToTheNext(_ streams: [String]) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 12 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(512 << 10))
      let arguments =
        ["cp", "--json"] + server.link(home, port: proxy.port) + streams
        + operands(home, isPut: true)
      let first = try home.start(arguments)
      try await eventually { home.remains().contains { home.size($0) > 1 << 20 } }
      let second = try home.start(arguments)
      try await second.reports(#""event":"connected""#)
      try await proxy.heal()
      #expect(try await first.outcome().code == 0)
      let outcome = try await second.outcome()
      await proxy.stop()
      #expect(outcome.code == 0 && home.data("b") == data, "\(outcome.error)")
      #expect(home.remains().isEmpty)
    }
  }

  /// With the tools of a host there is one stream, and that is said.
  @Test func aHostWithoutBridgeHostTakesOneStream() async throws {
    try await withSessions(installs: false) { server, home, _ in
      let data = try home.fill("a", 9 << 20)
      let outcome = try await server.copy(
        ["--streams", "2"] + operands(home, isPut: true), home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.error.contains("comes over one connection, not 2"), "\(outcome.error)")
      #expect(home.data("b") == data)
      #expect(home.remains().isEmpty)
    }
  }

  @Test(
    arguments: [
      (["/nothing-there", "127.0.0.1:x"], 66, "fileNotFound"),
      (["127.0.0.1:nothing-there", "x"], 66, "fileNotFound"),
      (["127.0.0.1:/tmp", "x"], 66, "fileReadError"),
      (["/etc/passwd", "127.0.0.1:/no-such/place"], 73, "fileWriteError"),
      (["127.0.0.1:/etc/passwd", "/no-such/place"], 73, "fileWriteError"),
      (["-r", "127.0.0.1:/etc", "x"], 64, "validationError"),
      (["--streams", "0", "127.0.0.1:a", "x"], 64, "validationError"),
      (["--streams", "9", "127.0.0.1:a", "x"], 64, "validationError"),
    ] as [([String], Int32, String)])
  func whatCannotBeCopiedIsNamedOnce(
    _ operands: [String], _ code: Int32, _ name: String
  ) async throws {
    try await withSessions { server, home, folder in
      let streams = operands.contains("--streams") ? [] : ["--streams", "3"]
      let outcome = try await server.copy(streams + operands + ["--json"], home)
      #expect(outcome.code == code, "\(outcome.error)")
      let error = try #require(try outcome.events("error").last)
      #expect(error["case"] as? String == name, "\(outcome.error)")
      #expect(try outcome.events("fileFailed").count <= 1)
      #expect(home.remains().isEmpty)
      let there = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(!there.contains { $0.hasPrefix(".bridge-copy") }, "\(there)")
    }
  }

  /// Two runs of one command do not mix what they write.
  @Test func aSecondRunAtTheSameTimeIsRefused() async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 16 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(512 << 10))
      let arguments = ["--streams", "2"] + operands(home, isPut: true)
      let running = try home.start(["cp"] + server.link(home, port: proxy.port) + arguments)
      while home.remains().count < 2 {
        try await ContinuousClock().sleep(for: .milliseconds(20))
      }
      // The same host, port and path: the same copy.
      let second = try await server.copy(arguments, home, port: proxy.port)
      #expect(second.code == 73, "\(second.error)")
      #expect(second.error.contains("another copy is writing it"), "\(second.error)")
      #expect(second.error.contains("Ctrl-C where it runs"), "\(second.error)")
      try await proxy.heal()
      let first = try await running.outcome()
      await proxy.stop()
      #expect(first.code == 0 && home.data("b") == data, "\(first.error)")
      // What serves the other run on the host may end after its client.
      try await eventually { home.remains().isEmpty }
    }
  }

  /// Its link was lost without a word, as by a laptop that sleeps: sshd keeps the connection, and
  /// with it what holds the part.
  @Test(arguments: ["1", "2"]) func aCopyWhoseClientIsGoneMakesRoomForTheNext(
    streams: String
  ) async throws {
    try await withSessions { server, home, _ in
      let data = try home.fill("a", 16 << 20)
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.bandwidth(512 << 10))
      let arguments = ["--streams", streams] + operands(home, isPut: true)
      let running = try home.start(["cp"] + server.link(home, port: proxy.port) + arguments)
      while home.remains().isEmpty {
        try await ContinuousClock().sleep(for: .milliseconds(20))
      }
      let sessions = home.parentsOfWriters()
      #expect(!sessions.isEmpty)
      for session in sessions { kill(session, SIGSTOP) }
      running.child.signal(SIGKILL)
      _ = try await running.outcome()
      try await proxy.heal()
      let second = try await server.copy(arguments, home, port: proxy.port)
      for session in sessions { kill(session, SIGKILL) }
      await proxy.stop()
      #expect(second.code == 0 && home.data("b") == data, "\(second.error)")
      #expect(home.remains().isEmpty)
    }
  }
}

extension Home {
  /// The parents of the processes that have a file of this home open: the sessions of sshd.
  fileprivate func parentsOfWriters() -> [Int32] {
    let (files, name) = (FileManager.default, URL(fileURLWithPath: path).lastPathComponent)
    let processes = (try? files.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) }
    return (processes ?? []).compactMap { process in
      let folder = "/proc/\(process)"
      let command = files.contents(atPath: "\(folder)/cmdline") ?? Data()
      let open = (try? files.contentsOfDirectory(atPath: "\(folder)/fd")) ?? []
      let isOurs = open.contains {
        let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)")
        return target?.contains(name) == true && target?.contains(".bridge-copy") == true
      }
      guard isOurs, String(decoding: command, as: UTF8.self).contains("bridge-host") else {
        return nil
      }
      let status = String(
        decoding: files.contents(atPath: "\(folder)/stat") ?? Data(), as: UTF8.self)
      // Behind the name in parentheses: the state, the parent (proc(5)).
      return status.split(separator: ")").last?.split(separator: " ").dropFirst().first
        .flatMap { Int32($0) }
    }
  }

  /// The length of a file; 0 where there is none.
  fileprivate func size(_ name: String) -> Int {
    let values = try? FileManager.default.attributesOfItem(atPath: file(name))
    return values?[.size] as? Int ?? 0
  }
}
