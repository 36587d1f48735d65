import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// What travels on a link that is up.
@Suite(.timeLimit(.minutes(5))) struct LinkTests {
  @Test func anIdleConnectionIsSilent() async throws {
    try await withServer { server in
      let proxy = try await FaultProxy(to: server.port)
      try await withConnection(to: server, at: proxy.port) { idle in
        // What sshd says unasked after authentication has come before this answer.
        #expect(try await idle.execute("true").exitStatus() == .status(0))
        _ = try await idle.probe(within: .seconds(10))
        let before = await proxy.connections[1]?.toServer
        try await withConnection(to: server) { busy in
          for _ in 0..<50 { _ = try await busy.probe(within: .seconds(10)) }
        }
        #expect(await proxy.connections[1]?.toServer == before)
      }
      await proxy.stop()
    }
  }

  /// Each channel waits for two answers while others wait for theirs.
  @Test func answersFindTheirChannel() async throws {
    try await withServer { server in
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.latency(.milliseconds(3)))
      try await withConnection(to: server, at: proxy.port) { connection in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<24 {
            group.addTask {
              let command = try await connection.execute(
                "exit \(number)", terminal: PseudoTerminal())
              #expect(try await command.exitStatus() == .status(number))
            }
          }
          try await group.waitForAll()
        }
      }
      await proxy.stop()
    }
  }

  @Test func aReaderThatStopsMakesTheServerStop() async throws {
    try await withServer { server in
      let proxy = try await FaultProxy(to: server.port)
      try await withConnection(to: server, at: proxy.port) { connection in
        let total = 48 << 20
        let flood = try await connection.execute("head -c \(total) /dev/zero")
        func passed() async -> Int { await proxy.connections[1]?.toClient ?? 0 }
        var (last, now) = (-1, await passed())
        // Until a hundred answers come past and nothing else does.
        while now < 1 << 20 || now - last > 100 * 128 {
          for _ in 0..<100 { _ = try await connection.probe(within: .seconds(10)) }
          (last, now) = (now, await passed())
        }
        // One window, which is the wider the slower the link, and what the stream holds.
        #expect(now < 18 << 20)

        var read = 0
        for try await bytes in flood.standardOutput { read += bytes.count }
        #expect(read == total)
        #expect(try await flood.exitStatus() == .status(0))
      }
      await proxy.stop()
    }
  }

  @Test func aDiscardedStreamDoesNotHoldTheOther() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let both = try await connection.execute("head -c 9000000 /dev/zero >&2; echo done")
        both.standardError.discard()
        #expect(try await text(both.standardOutput) == "done\n")
        #expect(try await both.exitStatus() == .status(0))
      }
    }
  }

  @Test func lastHeardFollowsWhatComes() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let first = await connection.lastHeard
        _ = try await connection.probe(within: .seconds(10))
        let second = await connection.lastHeard
        #expect(try #require(second) > #require(first))
      }
    }
  }
}
