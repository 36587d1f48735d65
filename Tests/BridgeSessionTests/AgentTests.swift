import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeSessionProtocol
import Foundation
import Testing

/// What an application that answers an agent's requests keeps beside its own data.
private struct ApprovalState {
  /// All requests below have their answer recorded.
  var resume: ResumePoint?
  /// How far the recorded answers go.
  var input: InputPoint?
  /// The newest answer, recorded before it was written, and its offset.
  var pending: (bytes: [UInt8], offset: UInt64)?
}

/// Where the application is killed: its request's number, and whether the answer was written.
private struct Death {
  var request: Int
  var isAnswerWritten: Bool
}

@Suite("An agent's requests are answered once") struct AgentTests {
  private static let requests = 40

  /// The agent waits for the answer to each of its requests, and writes down what it gets.
  private func agent(writing file: String) -> String {
    """
    n=0; while [ $n -lt \(Self.requests) ]; do n=$((n+1)); \
    printf "{\\"request\\":%d,\\"text\\":\\"%0500d\\"}\\n" $n 0; \
    read -r answer || exit 9; echo "$answer" >> "\(file)"; done; exit 6
    """
  }

  /// One life of the application: to the end of the agent, or to its death.
  private func live(
    _ state: inout ApprovalState, _ session: DurableSession, until death: Death?
  ) async throws -> ProgramEnd? {
    _ = try await session.attach()
    // Whether it was taken is the host's to know: it is dropped there if it was.
    if let (bytes, offset) = state.pending { try await session.write(bytes, at: offset) }
    var line: [UInt8] = []
    for try await chunk in session.output {
      guard case .bytes(let bytes, _) = chunk.content else { throw AppError.agentAborted }
      for (index, byte) in bytes.enumerated() {
        line.append(byte)
        guard byte == UInt8(ascii: "\n") else { continue }
        let request = try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        line = []
        let number = try #require(request["request"] as? Int)
        let answer = Array("{\"answer\":\(number)}\n".utf8)
        let end = chunk.offset + UInt64(index) + 1
        try await record(answer, end, &state, session)
        if let death, death.request == number, !death.isAnswerWritten { return nil }
        try await session.write(answer, at: state.pending?.offset)
        if let death, death.request == number { return nil }
        await session.commit(through: end)
      }
    }
    return try await session.exitStatus()
  }

  /// The application's one transaction: the request is seen, and this is its answer.
  private func record(
    _ answer: [UInt8], _ end: UInt64, _ state: inout ApprovalState, _ session: DurableSession
  ) async throws {
    let point = try #require(await session.inputPoint)
    let epoch = try #require(await session.resumePoint).epoch
    state.pending = (answer, point.written)
    state.input = InputPoint(
      written: point.written + UInt64(answer.count), lease: point.lease)
    state.resume = ResumePoint(epoch: epoch, received: end)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func whileTheLinkIsCutAgainAndAgainAndTheClientIsKilledTwice(seed: UInt64) async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port, seed: seed)
      let file = server.folder.appending(path: "answers").path
      let spec = server.spec(agent(writing: file))
      let client = ClientID.fresh()
      var state = ApprovalState()
      var end: ProgramEnd?
      var dials = 0
      let deaths = [
        Death(request: 11, isAnswerWritten: seed == 1),
        Death(request: 23, isAnswerWritten: seed == 2), nil,
      ]
      for death in deaths {
        let dialer = Dialer(server, proxy.port) { number in
          var generator = SplitMix64(seed: seed &* 1000 &+ UInt64(number))
          // A login takes 5 KB; each request some 600 bytes.
          try await proxy.inject(.cut(after: 5_000 + Int(generator.next() % 8_000)))
        }
        let session = server.session(spec, client: client, dialer: dialer) {
          $0.resume = state.resume
          $0.input = state.input
          if state.resume != nil { $0.start = nil }
        }
        end = try await live(&state, session, until: death)
        dials += await dialer.dials
        // Killed: no word to the host.
        await dialer.kill()
        await session.detach()
      }
      #expect(end == .exited(status: 6))
      let expected = (1...Self.requests).map { "{\"answer\":\($0)}\n" }.joined()
      #expect(try String(contentsOfFile: file, encoding: .utf8) == expected, "seed \(seed)")
      #expect(dials > 5)
      await proxy.stop()
    }
  }
}
