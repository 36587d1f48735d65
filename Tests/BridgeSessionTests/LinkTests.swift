import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

@Suite("A session over a real sshd outlives its links", .serialized)
struct LinkTests {
  /// A file of bytes that nothing can guess, and what they are.
  private func randomFile(_ count: Int, in folder: URL) throws -> (path: String, bytes: [UInt8]) {
    var generator = SplitMix64(seed: Identifier.fresh().low)
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let file = folder.appending(path: "random")
    try Data(bytes).write(to: file)
    return (file.path, bytes)
  }

  @Test func aCommandRunsAndEndsAsItDid() async throws {
    try await SessionServer.with { server in
      let session = server.session(
        server.spec("read line; echo \"got $line\"; echo wrong >&2; exit 7"))
      let welcome = try await session.attach()
      #expect(welcome.role == .writer && welcome.kind == .pipes)
      try await session.write(Array("word\n".utf8))
      try await session.endInput()
      let output = try await drain(session)
      #expect(output.bytes[.standardOutput] == Array("got word\n".utf8))
      #expect(output.bytes[.standardError] == Array("wrong\n".utf8))
      #expect(try await session.exitStatus() == .exited(status: 7))
      #expect(await session.inputTaken == 5)
      await session.close()
      try await eventually { server.names.isEmpty }
    }
  }

  /// Every link is reset after a random number of bytes in either direction.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func everyByteArrivesOnceWhereverTheLinkIsCut(seed: UInt64) async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port, seed: seed)
      let (path, expected) = try randomFile(1 << 20, in: server.folder)
      let copy = server.folder.appending(path: "copy").path
      let dialer = Dialer(server, proxy.port) { number in
        var generator = SplitMix64(seed: seed &* 1000 &+ UInt64(number))
        // A login takes 5 KB: most cuts are after it, some in the middle of it.
        let count = Int(generator.next() % (192 << 10))
        try await proxy.inject(.cut(after: count, number.isMultiple(of: 3) ? .toServer : .toClient))
      }
      let session = server.session(
        server.spec("cat '\(path)' & cat > '\(copy)'; wait; exit 9"), dialer: dialer)
      _ = try await session.attach()
      async let written: Void = {
        try await session.write(expected)
        try await session.endInput()
      }()
      let output = try await drain(session)
      try await written
      let isWhole = output.bytes == [.standardOutput: expected]
      #expect(isWhole, "seed \(seed)")
      #expect(output.gaps.isEmpty)
      #expect(try await session.exitStatus() == .exited(status: 9))
      #expect(FileManager.default.contents(atPath: copy) == Data(expected), "seed \(seed)")
      // The first two links bring less than half of it.
      #expect(await dialer.dials > 2)
      await session.close()
      await dialer.close()
      await proxy.stop()
    }
  }

  /// Only whole frames count: a link that dies early brings some of them all the same.
  @Test func linksThatEachDieWithinTenKilobytesBringAllOfIt() async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port)
      let (path, expected) = try randomFile(60_000, in: server.folder)
      // A login takes 3 to 4 KB.
      try await proxy.inject(.cut(after: 10_000), on: .all)
      let dialer = Dialer(server, proxy.port)
      let spec = server.spec("cat '\(path)'; exit 3")
      let direct = try await server.connect()
      let host = SessionHost(direct, host: "127.0.0.1", program: SessionServer.program)
      _ = try await host.start(spec)
      _ = try await host.wait(for: spec.session)
      // Read without attaching, on links of its own.
      var bytes: [UInt8] = []
      var ending: ProgramEnd?
      var links = 0
      while ending == nil, links < 1_000 {
        links += 1
        guard let link = try? await server.connect(at: proxy.port) else { continue }
        let far = SessionHost(link, host: "127.0.0.1", program: SessionServer.program)
        ending = try? await far.read(spec.session, from: UInt64(bytes.count)) { chunk in
          if case .bytes(let more, _) = chunk.content { bytes += more }
          return true
        }.ending
        await link.close()
      }
      #expect(bytes == expected && ending == .exited(status: 3))
      #expect(links > 2)
      let session = server.session(spec, dialer: dialer) { $0.start = nil }
      #expect(try await drain(session).bytes == [.standardOutput: expected])
      #expect(try await session.exitStatus() == .exited(status: 3))
      #expect(await dialer.dials > 2)
      await session.detach()
      await dialer.close()
      await direct.close()
      await proxy.stop()
    }
  }

  @Test func aCommandWhoseStartWasCutIsStartedOnce() async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port)
      let count = server.folder.appending(path: "count").path
      for bytes in stride(from: 4_000, to: 9_000, by: 500) {
        let dialer = Dialer(server, proxy.port) { number in
          guard number == 1 else { return }
          try await proxy.inject(.cut(after: bytes, .toServer))
        }
        let session = server.session(
          server.spec("echo started >> '\(count)'; cat > /dev/null; exit 4"), dialer: dialer)
        try? FileManager.default.removeItem(atPath: count)
        _ = try await session.attach()
        try await session.endInput()
        #expect(try await session.exitStatus() == .exited(status: 4))
        let text = try String(contentsOfFile: count, encoding: .utf8)
        #expect(text == "started\n", "cut after \(bytes)")
        await session.detach()
        await dialer.close()
      }
      await proxy.stop()
    }
  }

  @Test func aClientThatWasKilledGoesOnFromWhatItCommitted() async throws {
    try await SessionServer.with { server in
      let spec = server.spec("for i in 1 2 3; do read line; echo $i:$line; done; exit 5")
      let client = ClientID.fresh()
      let first = server.session(spec, client: client)
      _ = try await first.attach()
      try await first.write(Array("a\n".utf8))
      let iterator = first.output.makeAsyncIterator()
      let chunk = try #require(try await iterator.next())
      #expect(chunk.content == .bytes(Array("1:a\n".utf8), .standardOutput))
      await first.commit(through: chunk.end)
      let point = await first.resumePoint
      // Seen and not committed, written and not recorded: as a client that is killed here.
      let recorded = try #require(await first.inputPoint)
      try await first.write(Array("b\n".utf8))
      let seen = try #require(try await iterator.next())
      #expect(seen.content == .bytes(Array("2:b\n".utf8), .standardOutput))

      let second = server.session(spec, client: client) {
        $0.start = nil
        $0.resume = point
        $0.input = InputPoint(written: recorded.written, lease: recorded.lease)
      }
      let welcome = try await second.attach()
      // Whether "b" was taken is known, so it is not written twice.
      #expect(welcome.inputAccepted == recorded.written + 2)
      try await second.write(Array("b\nc\n".utf8), at: recorded.written)
      #expect(await failure { try await first.exitStatus() }?.caseName == "durableSessionReplaced")
      let output = try await drain(second)
      #expect(output.bytes == [.standardOutput: Array("2:b\n3:c\n".utf8)])
      #expect(try await second.exitStatus() == .exited(status: 5))
      await second.close()
      try await eventually { server.names.isEmpty }
    }
  }

  @Test func aKeeperThatWasKilledLeavesItsOutputAndNoStatus() async throws {
    try await SessionServer.with { server in
      let session = server.session(server.spec("echo before; exec cat > /dev/null"))
      _ = try await session.attach()
      let iterator = session.output.makeAsyncIterator()
      let chunk = try #require(try await iterator.next())
      #expect(chunk.content == .bytes(Array("before\n".utf8), .standardOutput))
      let keeper = try #require(server.keepers.first)
      ShortProcess.kill(keeper)
      let error = await failure { try await session.exitStatus() }
      #expect(
        error
          == .durableSessionOutcomeUnknown(
            host: "127.0.0.1", reason: "the keeper of the session died"))
      #expect(error?.exitCode() == .outcomeUnknown)
      await session.detach()
    }
  }

  @Test func aSessionThatIsNotThereIsNamed() async throws {
    try await SessionServer.with { server in
      let spec = server.spec("true")
      let session = server.session(spec) { $0.start = nil }
      #expect(
        await failure { try await session.attach() }
          == .durableSessionNotFound(host: "127.0.0.1", id: "\(spec.session)"))
    }
  }

  @Test func anotherProgramUnderTheSameIdIsAConflict() async throws {
    try await SessionServer.with { server in
      var spec = server.spec("sleep 3600")
      let first = server.session(spec)
      _ = try await first.attach()
      spec.command = Array("rm -rf nothing".utf8)
      let second = server.session(spec)
      #expect(
        await failure { try await second.attach() }
          == .durableSessionConflict(host: "127.0.0.1", id: "\(spec.session)"))
      await first.detach()
    }
  }

  @Test func withoutTheProgramOnTheHostThatIsSaid() async throws {
    try await SessionServer.with { server in
      let session = server.session(server.spec("true")) { $0.program = "/nowhere/bridge-host" }
      #expect(
        await failure { try await session.attach() }
          == .durableSessionHostUnusable(
            host: "127.0.0.1", reason: "bridge-host is not installed"))
    }
  }
}
