import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// A connection over a channel of another one (ProxyJump).
@Suite(.timeLimit(.minutes(5))) struct JumpTests {
  private func endpoint(_ port: Int) -> Endpoint { Endpoint(host: "127.0.0.1", port: port) }

  /// Runs `body` with a connection to `server` through `bastion`.
  private func through(
    _ bastion: SSHConnection, to server: SSHServer, at port: Int? = nil,
    _ change: (inout SSHConfiguration) -> Void = { _ in },
    _ body: (SSHConnection) async throws -> Void
  ) async throws {
    var configuration = trusting(server)
    change(&configuration)
    let connection = SSHConnection(
      to: endpoint(port ?? server.port), configuration: configuration, through: bastion)
    do {
      try await connection.connect()
      try await body(connection)
    } catch {
      await connection.close()
      throw error
    }
    await connection.close()
  }

  /// A bastion and a target, connected to the bastion.
  private func withBastion(
    _ configuration: SSHServerConfiguration = .init(),
    _ body: (_ bastion: SSHConnection, _ servers: (SSHServer, SSHServer)) async throws -> Void
  ) async throws {
    try await withServer(configuration) { first in
      try await withServer { second in
        try await withConnection(to: first) { try await body($0, (first, second)) }
      }
    }
  }

  /// The carrier of the inner connection outlives the session of the bastion by a turn of the loop.
  @Test func theTrafficOfABastionThatHasEndedIsWhatItWas() async throws {
    try await withBastion { bastion, servers in
      let inner = SSHConnection(
        to: endpoint(servers.1.port), configuration: trusting(servers.1), through: bastion)
      try await inner.connect()
      let (before, after) = await bastion.endingBeside(inner)
      #expect(after.acknowledged == before.acknowledged)
      await inner.close()
    }
  }

  @Test func aCommandRunsBehindTwoBastions() async throws {
    try await withBastion { first, servers in
      try await withServer { third in
        try await through(first, to: servers.1) { second in
          try await through(second, to: third) { connection in
            let command = try await connection.execute("echo $SSH_CONNECTION; exit 3")
            let words = try await text(command.standardOutput).split(separator: " ")
            #expect(words.last?.hasPrefix("\(third.port)") == true)
            #expect(try await command.exitStatus() == .status(3))
            #expect(await connection.agreement != nil)
            _ = try await connection.probe(within: .seconds(20))
          }
        }
      }
    }
  }

  @Test func everyByteArrivesBothWays() async throws {
    try await withBastion { bastion, servers in
      try await through(bastion, to: servers.1) { connection in
        var generator = SplitMix64(seed: 3)
        let block = (0..<(1 << 16)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let sent = (0..<128).flatMap { _ in block }
        let command = try await connection.execute("cat")
        async let received = command.standardOutput.reduce(into: [UInt8]()) { $0 += $1 }
        for start in stride(from: 0, to: sent.count, by: 100_000) {
          try await command.write(Array(sent[start..<min(sent.count, start + 100_000)]))
        }
        try await command.finishInput()
        #expect(Digest.sha256(try await received) == Digest.sha256(sent))
        #expect(try await command.exitStatus() == .status(0))
      }
    }
  }

  @Test func aReaderThatStopsHoldsBackTheHostBehindTheBastion() async throws {
    try await withBastion { bastion, servers in
      let proxy = try await FaultProxy(to: servers.1.port)
      try await through(bastion, to: servers.1, at: proxy.port) { connection in
        let total = 64 << 20
        let flood = try await connection.execute("head -c \(total) /dev/zero")
        func passed() async -> Int { await proxy.connections[1]?.toClient ?? 0 }
        var (last, now) = (-1, await passed())
        while now < 1 << 20 || now - last > 1 << 16 {
          for _ in 0..<100 { _ = try await connection.probe(within: .seconds(20)) }
          (last, now) = (now, await passed())
        }
        // The windows of both channels, which are the wider the slower the link.
        #expect(now < 36 << 20)
        #expect(await bastion.heldMemory < 24 << 20)
        var read = 0
        for try await bytes in flood.standardOutput { read += bytes.count }
        #expect(read == total)
      }
      await proxy.stop()
    }
  }

  @Test func theHostBehindTheBastionHasItsOwnKeyCheck() async throws {
    try await withBastion { bastion, servers in
      let target = SSHConnection(
        to: endpoint(servers.1.port),
        configuration: SSHConfiguration(
          user: servers.1.user, credentials: [.keyFile(servers.1.identityFile)],
          hostKeys: .init(files: ["/dev/null"], unknown: .refuse)),
        through: bastion)
      await expectFailure(
        of: target, ExpectedFailure(.hostKeyUnknown, in: .hostKey, exit: .hostIdentity))
      #expect(await target.lastFailure?.port == servers.1.port)
      _ = try await bastion.probe(within: .seconds(20))
    }
  }

  @Test func aTargetThatRefusesIsAFailureOfTheTargetInTheWordsOfTheBastion() async throws {
    try await withBastion { bastion, servers in
      await servers.1.kill()
      let target = SSHConnection(
        to: endpoint(servers.1.port), configuration: trusting(servers.1), through: bastion)
      let error = await expectFailure(
        of: target, ExpectedFailure(.targetRefused, in: .dial, exit: .unreachable))
      #expect(await target.lastFailure?.port == servers.1.port)
      #expect("\(error)".contains("127.0.0.1:\(servers.0.port) says"))
      #expect("\(error)".contains("Connection refused"))
      _ = try await bastion.probe(within: .seconds(20))
    }
  }

  @Test func aBastionThatForbidsItIsAFailureOfTheBastion() async throws {
    var configuration = SSHServerConfiguration()
    configuration.lines = ["AllowTcpForwarding no"]
    try await withBastion(configuration) { bastion, servers in
      let target = SSHConnection(
        to: endpoint(servers.1.port), configuration: trusting(servers.1), through: bastion)
      let error = await expectFailure(
        of: target, ExpectedFailure(.channelDenied, in: .dial, exit: .protocolBroken))
      #expect(await target.lastFailure?.port == servers.0.port)
      #expect("\(error)".contains("127.0.0.1:\(servers.1.port): administratively prohibited"))
    }
  }

  @Test func aTargetThatSwallowsTheDialLeavesTheBastionAlive() async throws {
    try await withBastion { bastion, servers in
      let listener = try FullListener()
      var configuration = trusting(servers.1)
      configuration.timeouts.dial = .milliseconds(300)
      let target = SSHConnection(
        to: endpoint(listener.port), configuration: configuration, through: bastion)
      let error = await failure { try await target.connect() }
      #expect(error == .sshTimeout(seconds: 1))
      #expect(await target.lastFailure?.kind == .dialTimeout)
      #expect(await target.lastFailure?.port == listener.port)
      // The question is still open, and yet it is known that the bastion answers.
      for _ in 0..<3 { _ = try await bastion.probe(within: .seconds(20)) }
      #expect(await bastion.lastFailure == nil)
    }
  }

  @Test func aBastionThatDiesIsTheFailureOfWhatRunsBehindIt() async throws {
    try await withBastion { bastion, servers in
      let target = SSHConnection(
        to: endpoint(servers.1.port), configuration: trusting(servers.1), through: bastion)
      try await target.connect()
      let command = try await target.execute("echo up; cat")
      let output = command.standardOutput.makeAsyncIterator()
      let first = try await output.next(isolation: nil)
      #expect(first == Array("up\n".utf8))
      await servers.0.kill()
      let error = await failure { _ = try await command.exitStatus() }
      #expect(error == .sshOutcomeUnknown(command: "echo up; cat"))
      for await event in target.events where event == .closed { break }
      let context = await target.lastFailure
      #expect(context?.kind == .linkLost)
      #expect(context?.port == servers.0.port)
      await target.close()
    }
  }

  @Test func aTargetThatDiesIsNotTheFailureOfTheBastion() async throws {
    try await withBastion { bastion, servers in
      let target = SSHConnection(
        to: endpoint(servers.1.port), configuration: trusting(servers.1), through: bastion)
      try await target.connect()
      let command = try await target.execute("cat")
      await servers.1.kill()
      _ = await failure { _ = try await command.exitStatus() }
      for await event in target.events where event == .closed { break }
      #expect(await target.lastFailure?.kind == .linkLost)
      #expect(await target.lastFailure?.port == servers.1.port)
      _ = try await bastion.probe(within: .seconds(20))
      await target.close()
    }
  }

  @Test func closingTheBastionEndsWhatGoesThroughIt() async throws {
    try await withBastion { bastion, servers in
      let target = SSHConnection(
        to: endpoint(servers.1.port), configuration: trusting(servers.1), through: bastion)
      try await target.connect()
      await bastion.close()
      for await event in target.events where event == .closed { break }
      #expect(await target.lastFailure?.kind == .linkLost)
      await target.close()
      #expect(OpenSockets.to(port: servers.0.port).isEmpty)
    }
  }

  @Test func aConnectionThatIsClosedLeavesNoChannelBehind() async throws {
    try await withBastion { bastion, servers in
      for _ in 0..<20 {
        try await through(bastion, to: servers.1) { connection in
          let status = try await connection.execute("true").exitStatus()
          #expect(status == .status(0))
        }
      }
      // Until the server has confirmed the last one.
      while await bastion.openChannels > 0 { _ = try await bastion.probe(within: .seconds(20)) }
    }
  }

  @Test func anUnconnectedBastionIsRefused() async throws {
    let bastion = SSHConnection(
      to: endpoint(1), configuration: SSHConfiguration(user: "u", hostKeys: .anyKey))
    let target = SSHConnection(
      to: endpoint(2), configuration: SSHConfiguration(user: "u", hostKeys: .anyKey),
      through: bastion)
    let error = await failure { try await target.connect() }
    guard case .internalError = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    await target.close()
  }
}

/// A stream to another machine through an SSH server.
@Suite(.timeLimit(.minutes(5))) struct TunnelTests {
  @Test func bothDirectionsEndByThemselves() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        // What the echoing side sends comes back after our end, and before its own.
        let echo = try await Program.started(
          "python3", "-c",
          """
          import socket,sys
          s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(1)
          print(s.getsockname()[1],flush=True)
          c,_=s.accept(); data=b""
          while True:
              d=c.recv(65536)
              if not d: break
              data+=d
          c.sendall(data); c.close()
          """)
        let tunnel = try await connection.tunnel(
          to: .port(Endpoint(host: "127.0.0.1", port: echo.port)))
        let sent = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try await tunnel.write(sent)
        try await tunnel.finish()
        var received: [UInt8] = []
        while let bytes = try await tunnel.read() { received += bytes }
        #expect(Digest.sha256(received) == Digest.sha256(sent))
        #expect(await tunnel.ending() == .finished(status: nil))
        echo.end()
      }
    }
  }

  @Test func aClosedPortIsNamed() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let proxy = try await FaultProxy(to: server.port)
        let port = proxy.port
        await proxy.stop()
        let error = await failure {
          _ = try await connection.tunnel(to: .port(Endpoint(host: "127.0.0.1", port: port)))
        }
        guard case .sshConnectionFailed(_, let reason) = error else {
          return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(reason.contains("127.0.0.1:\(port): Connection refused"))
        #expect(await connection.lastRefusal?.kind == .targetRefused)
        #expect(try await connection.execute("true").exitStatus() == .status(0))
      }
    }
  }

  @Test func aUnixSocketOnTheServerIsReached() async throws {
    try await withServer { server in
      try await withConnection(to: server) { connection in
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        let peer = try await Program.started(
          "python3", "-c",
          """
          import socket
          s=socket.socket(socket.AF_UNIX); s.bind("\(path)"); s.listen(1); print(1,flush=True)
          c,_=s.accept(); c.sendall(b"hello "+c.recv(100)); c.close()
          """)
        let tunnel = try await connection.tunnel(to: .socket(path: path))
        try await tunnel.write(Array("you".utf8))
        var received: [UInt8] = []
        while let bytes = try await tunnel.read() { received += bytes }
        #expect(String(decoding: received, as: UTF8.self) == "hello you")
        await tunnel.close()
        peer.end()
      }
    }
  }
}

extension SSHConnection {
  /// The traffic of `inner` before and after this connection is closed, with no turn of the loop in
  /// between.
  fileprivate func endingBeside(
    _ inner: SSHConnection
  ) async -> (before: TrafficState, after: TrafficState) {
    func traffic() -> TrafficState { inner.assumeIsolated { $0.traffic } }
    let before = traffic()
    await close()
    return (before, traffic())
  }
}
