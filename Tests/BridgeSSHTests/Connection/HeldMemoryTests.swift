import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Testing

/// What a peer can make us hold is bounded, whatever it sends and whatever is not read.
@Suite(.timeLimit(.minutes(5))) struct HeldMemoryTests {
  /// In bytes; far more than is held.
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
        ExpectedFailure(.corrupted, in: .authenticate, exit: .protocolBroken))
    }
  }

  /// A peer that asks and takes no answers: what is queued for it stops, and so does our reading.
  @Test func answersThatNothingTakesAreBounded() async throws {
    let asked = Mutex(0)
    try await withScript({ client, _ in
      try client.admit()
      while true {
        try client.say(80) {
          $0.string("keepalive@example")
          $0.byte(1)
        }
        asked.withLock { $0 += 1 }
      }
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      var (last, quiet, most) = (0, 0, 0)
      while quiet < 2_000, most < 4 << 20 {
        most = max(most, await connection.unsentBytes)
        let now = asked.withLock { $0 }
        quiet = now == last && most > 0 ? quiet + 1 : 0
        last = now
      }
      #expect(most < 2 << 20)
      await connection.close()
    }
  }

  /// A name of four billion bytes is the server's fault and no shortage of this machine.
  @Test(arguments: [0xffff_fff0, 0x8000_0000, 0x0010_0000] as [UInt32])
  func anImpossibleLengthInAPacketIsTheServers(length: UInt32) async throws {
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.startCommand()
      try client.say(98) {
        $0.uint32(number)
        $0.string("exit-signal")
        $0.byte(0)
        $0.uint32(length)
        $0.uint32(0)
        $0.uint32(0)
      }
      try client.listenToTheEnd()
    }) { server in
      let connection = connection(to: server)
      try await connection.connect()
      // It may come with the answer to the request, or behind it.
      let error = await failure {
        let channel = try await connection.execute("name")
        _ = try await channel.exitStatus()
      }
      #expect(error == .sshOutcomeUnknown(command: "name"))
      #expect(await connection.lastFailure?.kind == .corrupted)
      await connection.close()
    }
  }

  /// A packet costs some 200 bytes beside its data: a window of 2 MiB that is filled a byte at a
  /// time would take 400 MiB.
  @Test func aWindowFilledByteByByteIsHeldAtItsWeight() async throws {
    let total = 300_000
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.startCommand()
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
      try await eventually {
        most = max(most, await connection.heldMemory)
        return channel.knownStatus != nil
      }
      #expect(most < 8 << 20)
      var received: [UInt8] = []
      for try await bytes in channel.standardOutput { received += bytes }
      let isWhole = received == (0..<total).map { UInt8(truncatingIfNeeded: $0) }
      #expect(isWhole)
      #expect(try await channel.exitStatus() == .status(5))
      await connection.close()
    }
  }
}
