import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// What a peer can make us hold is bounded, whatever it sends and whatever is not read.
@Suite(.timeLimit(.minutes(2))) struct HeldMemoryTests {
  private let flood = 64 << 20

  private func connection(to server: ScriptedSSHServer) -> SSHConnection {
    SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: "somebody", credentials: [.password(Secret("x"))], hostKeys: .anyKey))
  }

  /// Message numbers 192 to 255 are for private use (RFC 4250, 4.1.1): no call of ours takes one.
  @Test func packetsThatNothingTakesEndTheConnection() async throws {
    let count = flood / 30_000
    try await withScript({ client, _ in
      try client.admit()
      let junk = [UInt8](repeating: 192, count: 30_000)
      for _ in 0..<count { try client.send(junk) }
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      _ = await failure { while true { _ = try await connection.probe(within: .seconds(30)) } }
      #expect(await connection.lastFailure?.kind == .corrupted)
      #expect(await connection.heldMemory == 0)
      await connection.close()
    }
  }

  @Test func packetsThatNothingTakesEndALogin() async throws {
    let count = flood / 30_000
    try await withScript({ client, _ in
      _ = try client.request()
      let junk = [UInt8](repeating: 192, count: 30_000)
      for _ in 0..<count { try client.send(junk) }
      try client.listenToTheEnd()
    }) { server in
      await expectFailure(
        of: connection(to: server),
        Verdict(.corrupted, in: .authenticate, exit: .protocolBroken))
    }
  }

  /// A packet costs some 200 bytes beside its data: a window of 2 MiB that is filled a byte at a
  /// time would take 400 MiB.
  @Test func aWindowFilledByteByByteIsHeldAtItsWeight() async throws {
    let total = 300_000
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      try client.say(99) { $0.uint32(number) }
      for index in 0..<total {
        try client.say(94) {
          $0.uint32(number)
          $0.string([UInt8(truncatingIfNeeded: index)])
        }
      }
      try client.say(96) { $0.uint32(number) }
      try client.say(98) {
        $0.uint32(number)
        $0.string("exit-status")
        $0.byte(0)
        $0.uint32(5)
      }
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      let channel = try await connection.execute("drip")
      var most = 0
      // The status comes behind all of it: nothing was read by then.
      while await connection.tryStatus(of: channel) == nil {
        most = max(most, await connection.heldMemory)
      }
      #expect(most < 8 << 20)
      var received: [UInt8] = []
      for try await bytes in channel.standardOutput { received += bytes }
      #expect(received == (0..<total).map { UInt8(truncatingIfNeeded: $0) })
      #expect(try await channel.exitStatus() == .status(5))
      await connection.close()
    }
  }
}

extension SSHConnection {
  /// The status of `channel`, if it is known after a round trip's worth of work on the reactor.
  fileprivate func tryStatus(of channel: SSHChannel) async -> BridgeSSH.ExitStatus? {
    await Task.yield()
    return channel.knownStatus
  }
}
