import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeSessionProtocol
import Testing

@Suite("The output of a session by lines") struct LinesTests {
  private struct Stop: Error {}

  /// Reads to the end; commits each line, and throws in the body of line number `last`.
  private func read(
    _ lines: SessionLines, throwingAt last: Int? = nil
  ) async throws -> [String] {
    var texts: [String] = []
    for try await line in lines {
      if texts.count == last { throw Stop() }
      texts.append(line.text ?? "gap")
    }
    return texts
  }

  /// A session whose program prints, and goes on.
  private func session(printing text: String) -> DurableSession {
    ScriptedHost { channel in
      channel.greet()
      channel.send(.output(offset: 0, stream: .standardOutput, bytes: Array(text.utf8)))
    }.session()
  }

  @Test func aLineWhoseBodyThrewComesAgain() async throws {
    let session = session(printing: "a\nb\nc\n")
    let lines = session.lines()
    await #expect(throws: Stop.self) { try await read(lines, throwingAt: 1) }
    // `a` was committed when `b` was requested, `b` was not.
    #expect(await lines.point?.output == ResumePoint(epoch: ScriptedHost.epoch, received: 2))
    await session.detach()
  }

  @Test func explicitlyCommittedIsWhatWasNamed() async throws {
    let session = session(printing: "a\nb\nc\n")
    let lines = session.lines(commits: .whenCalled)
    let iterator = lines.makeAsyncIterator()
    let first = try await iterator.next()
    _ = try await iterator.next()
    #expect(await lines.point?.output.received == 0)
    if let first { await lines.commit(first) }
    #expect(await lines.point?.output.received == 2)
    await session.detach()
  }

  @Test func leavingHandsOverNoBeginningOfALine() async throws {
    let session = session(printing: "a\nb")
    let lines = session.lines()
    let iterator = lines.makeAsyncIterator()
    #expect(try await iterator.next()?.text == "a")
    async let next = iterator.next()
    await session.detach()
    #expect(try await next == nil)
    #expect(await lines.point?.output.received == 2)
  }

  @Test func aPointOfAnotherPlaceIsRefused() async throws {
    let session = ScriptedHost().session()
    let point = LinePoint(output: ResumePoint(epoch: 1, received: 5))
    let error = await failure { try await self.read(session.lines(after: point)) }
    #expect(
      error
        == .validationError(
          field: "resume", message: "The session does not begin where its lines are to."))
  }

  private struct Event: Decodable, Sendable, Equatable {
    var step: Int
  }

  @Test func whatIsNoValueIsHandedOverWithItsReason() async throws {
    let host = ScriptedHost { channel in
      channel.greet()
      let out =
        "{\"step\":1}\nnoise\n{\"step\":\"x\"}\n{}\n" + String(repeating: "1", count: 90) + "\n"
      channel.send(.output(offset: 0, stream: .standardOutput, bytes: Array(out.utf8)))
      let end = UInt64(out.utf8.count)
      let error = Array("{\"step\":2}\n".utf8)
      channel.send(.output(offset: end, stream: .standardError, bytes: error))
      channel.send(.ended(at: end + UInt64(error.count), .exited(status: 0)))
    }
    let session = host.session()
    var values: [Event] = []
    var others: [String] = []
    for try await element in session.lines(limit: 50).json(as: Event.self) {
      switch element {
      case .value(let event, _): values.append(event)
      case .other(let line, let reason): others.append("\(line.text ?? "gap"): \(reason ?? "-")")
      }
    }
    await session.detach()
    #expect(values == [Event(step: 1)])
    try #require(others.count == 6)
    #expect(others[0] == "noise: The line is no JSON.")
    #expect(others[1].hasPrefix("{\"step\":\"x\"}: step: "))
    #expect(others[2].hasPrefix("{}: "))
    #expect(others[3].hasSuffix(": The line is longer than the limit, or a part of it is lost."))
    #expect(others[5] == "{\"step\":2}: -")
  }

  /// An agent on a real host; its client is killed again and again, and its links are reset.
  @Test func eachLineHasItsEffectOnceOverLivesOfTheClient() async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port)
      let spec = server.spec(
        """
        n=0; while [ $n -lt 400 ]; do n=$((n+1)); printf 'out %d ' $n; echo "error $n" >&2; \
        echo end; done; exit 5
        """)
      let client = ClientID.random()
      var point: LinePoint?
      var got: [ProgramStream: [String]] = [:]
      var lives = 0
      var isOver = false
      while !isOver {
        lives += 1
        let dialer = Dialer(server, proxy.port)
        let session = server.session(spec, client: client, dialer: dialer) { configuration in
          configuration.resume = point?.output
        }
        let lines = session.lines(after: point)
        var left = 97
        isOver = true
        for try await line in lines {
          guard let text = line.text, let stream = line.stream else { continue }
          got[stream, default: []].append(text)
          point = await lines.point(after: line)
          left -= 1
          if left % 30 == 0 { try await proxy.inject(.reset) }
          guard left > 0 else {
            isOver = false
            break
          }
        }
        if isOver {
          #expect(try await session.exitStatus() == .exited(status: 5))
          await session.close()
        } else {
          await dialer.kill()
          await session.detach()
        }
        await dialer.close()
      }
      #expect(lives > 8)
      #expect(got[.standardOutput] == (1...400).map { "out \($0) end" })
      #expect(got[.standardError] == (1...400).map { "error \($0)" })
      await proxy.stop()
    }
  }
}
