import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

/// Output of a server that breaks the rules of RFC 4254, 5.2, which libssh2 drops in silence: it is
/// never a success. That of a server that keeps them always is.
@Suite(.timeLimit(.minutes(2))) struct LostOutputTests {
  /// A way to break the rules.
  enum Fault: String, CaseIterable, Sendable {
    case moreThanTheWindow, moreThanAPacket, lessThanItSays, moreThanItSays

    /// Sends output in this way.
    func send(_ client: ServerTalk, to number: UInt32, window: UInt32, asError: Bool) throws {
      func send(_ bytes: [UInt8], length: Int? = nil) throws {
        let message = client.message(asError ? 95 : 94) {
          $0.uint32(number)
          if asError { $0.uint32(1) }
          $0.uint32(UInt32(length ?? bytes.count))
        }
        try client.send(message + bytes)
      }
      let chunk = [UInt8](repeating: 7, count: 32_000)
      switch self {
      case .moreThanTheWindow:
        for _ in 0..<(3 * Int(window) / chunk.count) { try send(chunk) }
      case .moreThanAPacket:
        for _ in 0..<20 { try send([UInt8](repeating: 7, count: 34_000)) }
      case .lessThanItSays: try send([1, 2, 3], length: 100)
      case .moreThanItSays: try send(chunk, length: 3)
      }
    }
  }

  private let broken = ExpectedFailure(.outputLost, in: .stream, exit: .protocolBroken)

  private func connection(to server: ScriptedSSHServer) async throws -> SSHConnection {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey))
    try await connection.connect()
    return connection
  }

  /// Takes what comes until the client goes, and answers its probes.
  private func refuseProbes(of client: ServerTalk) throws {
    while true {
      var reader = WireReader(try client.receive())
      guard reader.byte() == 90, reader.string() != nil, let number = reader.uint32() else {
        continue
      }
      try client.refuseChannel(number, reason: 3, "")
    }
  }

  /// The error that the stream ends with.
  private func end(of stream: ByteStream) async -> AppError? {
    await failure { for try await _ in stream {} }
  }

  @Test(arguments: Fault.allCases, [false, true])
  func theOutcomeIsNoSuccess(_ fault: Fault, asError: Bool) async throws {
    try await withScript({ client, _ in
      try client.admit()
      let (number, window) = try client.startCommandWithWindow()
      try fault.send(client, to: number, window: window, asError: asError)
      try client.sendTogether([
        client.exitStatus(of: number), client.message(96, of: number),
        client.message(97, of: number),
      ])
      try refuseProbes(of: client)
    }) { server in
      let connection = try await connection(to: server)
      let channel = try await connection.execute("make")
      // Nothing is read before it is known.
      let error = await failure { _ = try await channel.exitStatus() }
      #expect(error?.caseName == "sshProtocolError", "\(String(describing: error))")
      #expect(channel.failure?.kind == broken.kind)
      #expect(error?.exitCode(in: channel.failure) == broken.exit)
      #expect(channel.failure?.detail?.contains("RFC 4254") == true)
      #expect(await end(of: asError ? channel.standardError : channel.standardOutput) == error)
      // The connection has nothing to do with it.
      #expect(await connection.lastFailure == nil)
      _ = try await connection.probe(within: .seconds(30))
      await connection.close()
    }
  }

  /// A server that sends no status and no end either.
  @Test func aShellEndsWhenItIsSeen() async throws {
    try await withScript({ client, _ in
      try client.admit()
      let (number, window) = try client.startCommandWithWindow()
      try Fault.moreThanTheWindow.send(client, to: number, window: window, asError: false)
      try client.listenToTheEnd()
    }) { server in
      let connection = try await connection(to: server)
      let channel = try await connection.shell(in: nil)
      let error = await failure { _ = try await channel.exitStatus() }
      #expect(error?.caseName == "sshProtocolError")
      await connection.close()
    }
  }

  /// The link goes right behind: what is lost is lost even so.
  @Test(arguments: Fault.allCases) func theEndOfTheLinkHidesNothing(_ fault: Fault) async throws {
    try await withScript({ client, _ in
      try client.admit()
      let (number, window) = try client.startCommandWithWindow()
      try fault.send(client, to: number, window: window, asError: false)
      try client.sendTogether([
        client.exitStatus(of: number), client.message(96, of: number),
        client.message(97, of: number),
      ])
    }) { server in
      let connection = try await connection(to: server)
      let channel = try await connection.execute("make")
      let error = await failure { _ = try await channel.exitStatus() }
      #expect(error?.caseName == "sshProtocolError", "\(String(describing: error))")
      await connection.close()
    }
  }

  // Forwarded connections

  private func forwarder(_ server: ScriptedSSHServer) -> Forwarder {
    Forwarder(
      through: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey),
      link: { () throws(AppError) in })
  }

  private func expectDamage(_ forwarder: Forwarder) async throws {
    let error = try await forwarder.next {
      if case .damaged(_, let error) = $0 { error } else { nil }
    }
    #expect(error.caseName == "sshProtocolError")
    let isWhole = try await forwarder.next {
      if case .closed(_, _, _, let isWhole) = $0 { isWhole } else { nil }
    }
    #expect(!isWhole)
  }

  /// Connects, sends a byte, reads to the end and prints how that came.
  private static let reader = """
    import socket,sys
    s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
    try:
        s.sendall(b"x")
        while s.recv(65536): pass
        print("end")
    except ConnectionError: print("reset")
    """

  @Test(arguments: [Fault.moreThanAPacket, .lessThanItSays, .moreThanItSays])
  func aForwardedConnectionIsEndedByAnError(_ fault: Fault) async throws {
    try await withScript({ client, _ in
      try client.admit()
      let (number, window) = try client.openRequestWithWindow()
      try client.confirmChannel(number)
      _ = try client.expect(94)
      try fault.send(client, to: number, window: window, asError: false)
      try client.sendTogether([client.message(96, of: number), client.message(97, of: number)])
      try client.listenToTheEnd()
    }) { server in
      let forwarder = forwarder(server)
      let port = try await forwarder.listen(forwardRule(to: 9))
      async let seen = Peer.run(Self.reader, "\(port)")
      try await expectDamage(forwarder)
      #expect(try await seen == "reset\n")
      await forwarder.close()
    }
  }

  @Test func aConnectionToAPortOfTheHostIsEndedByAnError() async throws {
    let target = try await Program.started("python3", "-c", Peer.echoAfterEnd)
    try await withScript({ client, _ in
      try client.admit()
      _ = try client.expect(80)
      try client.say(81) { $0.uint32(4242) }
      try client.say(90) {
        $0.string("forwarded-tcpip")
        for field: UInt32 in [5, 1 << 20, 32_768] { $0.uint32(field) }
        $0.string("localhost")
        $0.uint32(4242)
        $0.string("127.0.0.1")
        $0.uint32(1)
      }
      while true {
        var reader = WireReader(try client.receive())
        guard reader.byte() == 91, reader.uint32() == 5, let number = reader.uint32() else {
          continue
        }
        try Fault.moreThanAPacket.send(client, to: number, window: 0, asError: false)
        try client.sendTogether([client.message(96, of: number), client.message(97, of: number)])
        try client.listenToTheEnd()
      }
    }) { server in
      let forwarder = forwarder(server)
      _ = try await forwarder.listen(forwardRule(to: target.port, on: .remote))
      try await expectDamage(forwarder)
      await forwarder.close()
    }
  }

  // Servers that keep the rules

  /// A window that is filled to its last byte by packets of the largest size, and empty ones.
  @Test func aFullWindowIsWhole() async throws {
    let count = Mutex(0)
    try await withScript({ client, record in
      try client.admit()
      let (number, window) = try client.startCommandWithWindow()
      record("\(window)")
      var left = Int(window)
      while left > 0 {
        try client.send(client.data([], of: number))
        let size = min(left, 32_768)
        try client.send(client.data([UInt8](repeating: 7, count: size), of: number))
        left -= size
      }
      try client.sendTogether([
        client.exitStatus(of: number), client.message(96, of: number),
        client.message(97, of: number),
      ])
      try client.listenToTheEnd()
    }) { server in
      let connection = try await connection(to: server)
      let channel = try await connection.execute("print")
      #expect(try await channel.exitStatus() == .status(0))
      for try await bytes in channel.standardOutput { count.withLock { $0 += bytes.count } }
      #expect(server.collected == ["\(count.withLock { $0 })"])
      await connection.close()
    }
  }

  /// Of both streams one is dropped as it comes.
  @Test func whatIsDiscardedIsNotMissing() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let channel = try await connection.execute(
          "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 7")
        channel.standardOutput.discard()
        var count = 0
        for try await bytes in channel.standardError { count += bytes.count }
        #expect(count == 3_000_000)
        #expect(try await channel.exitStatus() == .status(7))
      }
    }
  }

  /// Our side closes while more comes than anyone reads.
  @Test func aChannelThatWeCloseIsOnlyClosed() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let channel = try await connection.execute("cat /dev/zero")
        for try await _ in channel.standardOutput { break }
        await channel.close()
        #expect(await failure { _ = try await channel.exitStatus() } == .cancelled)
        let other = try await connection.execute("exit 3")
        #expect(try await other.exitStatus() == .status(3))
      }
    }
  }
}
