import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Testing

/// What listens on the port is no server of ours: what each is called.
@Suite(.timeLimit(.minutes(5))) struct HostilePeerTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var script: PeerScript
    var expected: ExpectedFailure
    var timeouts = SSHTimeouts()

    init(
      _ name: String, _ script: PeerScript, _ kind: FailureKind, in phase: ConnectionPhase,
      exit: ExitCode, _ timeouts: SSHTimeouts = SSHTimeouts()
    ) {
      testDescription = name
      self.script = script
      self.expected = ExpectedFailure(kind, in: phase, exit: exit)
      self.timeouts = timeouts
    }
  }

  static let silent: [Row] = [
    Row("silent", .silent, .silent, in: .banner, exit: .timedOut, .short),
    Row(
      "drip of one byte in five seconds", .identificationDrip(every: .seconds(5)), .silent,
      in: .banner, exit: .timedOut,
      .short),
    Row(
      "silent after its version", .identification, .silent, in: .keyExchange, exit: .timedOut,
      .throughBanner),
    Row(
      "silent after half a packet",
      .identification + [.send(Array(SSHPacket.keyExchangeInit(.init()).framed.prefix(40)))],
      .silent, in: .keyExchange, exit: .timedOut, .throughBanner),
    Row(
      "silent after its offer", .offer(SSHAlgorithmOffer()), .silent, in: .keyExchange,
      exit: .timedOut, .throughBanner),
    Row(
      "never reads", [.stopReading] + .identification, .silent, in: .keyExchange, exit: .timedOut,
      .throughBanner),
    Row(
      "lines for ever, slowly",
      [.drip(Array(String(repeating: "please wait\n", count: 99).utf8), every: .milliseconds(20))],
      .silent, in: .banner, exit: .timedOut, .short),
  ]

  static let strange: [Row] = [
    Row("flood", .bannerFlood(), .notTheProtocol, in: .banner, exit: .protocolBroken),
    Row(
      "flood of empty lines", [.flood([UInt8](repeating: 10, count: 4096), total: nil)],
      .notTheProtocol, in: .banner, exit: .protocolBroken),
    Row(
      "flood without a newline", [.flood([UInt8](repeating: 120, count: 4096), total: nil)],
      .notTheProtocol, in: .banner, exit: .protocolBroken),
    Row("http", .http, .notTheProtocol, in: .banner, exit: .protocolBroken),
    Row("ssh 1", .ssh1, .notTheProtocol, in: .banner, exit: .protocolBroken),
    Row(
      "a greeting and FIN", [.send("220 mail.example ESMTP\r\n"), .finish], .notTheProtocol,
      in: .banner, exit: .protocolBroken),
    Row(
      "a version line without end", [.send("SSH-2.0-"), .flood(Array("x".utf8), total: 9999)],
      .versionLineTooLong, in: .banner, exit: .protocolBroken),
    Row(
      "escape sequences", [.send("SSH-2.0-\u{1b}[2Jx\r\n")], .notTheProtocol, in: .banner,
      exit: .protocolBroken),
  ]

  static let noise: [Row] = (1...8).map { seed in
    Row(
      "noise \(seed)", .noise(4096, seed: seed), .notTheProtocol, in: .banner,
      exit: .protocolBroken)
  }

  static let busy: [Row] = [
    Row("MaxStartups", .exceededMaxStartups, .throttled, in: .banner, exit: .busy),
    Row("penalty", .notAllowedAtThisTime, .throttled, in: .banner, exit: .busy),
    Row(
      "too many connections", .disconnect(12, "too many"), .throttled, in: .keyExchange,
      exit: .busy),
  ]

  static let ended: [Row] = [
    Row("FIN at once", [.finish], .dropped, in: .banner, exit: .unreachable),
    Row(
      "RST instead of a version", [.readUntil("\n"), .reset], .dropped, in: .banner,
      exit: .unreachable),
    Row(
      "FIN in the version", [.send("SSH-2.0-Op"), .finish], .dropped, in: .banner,
      exit: .unreachable),
    Row(
      "FIN after the version", .identification + [.finish], .dropped, in: .keyExchange,
      exit: .unreachable),
    Row(
      "RST after the version", .identification + [.readUntil("\n"), .reset], .dropped,
      in: .keyExchange, exit: .unreachable),
    Row(
      "FIN after the offer", .offer(.init()) + [.finish], .dropped, in: .keyExchange,
      exit: .unreachable),
  ]

  static let disconnects: [Row] = [
    (1, FailureKind.rejected, ExitCode.protocolBroken), (2, .rejected, .protocolBroken),
    (3, .rejected, .protocolBroken), (5, .rejected, .protocolBroken),
    (8, .rejected, .protocolBroken), (9, .rejected, .protocolBroken), (10, .dropped, .unreachable),
    (11, .dropped, .unreachable), (14, .authenticationRefused, .refused),
  ].map { reason, kind, exit in
    Row(
      "disconnect \(reason)", .disconnect(UInt32(reason), "go away"), kind, in: .keyExchange,
      exit: exit)
  }

  static let broken: [Row] = [
    ("a packet of 2 GiB", [0x7f, 0xff, 0xff, 0xff] + [UInt8](repeating: 1, count: 60)),
    ("an empty packet", [UInt8](repeating: 0, count: 64)),
    ("padding longer than the packet", [0, 0, 0, 12, 255] + [UInt8](repeating: 20, count: 59)),
    ("an offer cut short", SSHPacket(payload: [20, 1, 2, 3]).framed),
    (
      "an offer with a list longer than the packet",
      SSHPacket(payload: [20] + [UInt8](repeating: 0, count: 16) + [0xff, 0xff, 0xff, 0xff]).framed
    ),
  ].map { name, bytes in
    Row(
      name, .identification + [.readUntil("\n"), .send(bytes)], .corrupted, in: .keyExchange,
      exit: .protocolBroken)
  }

  static let rows = silent + strange + noise + busy + ended + disconnects + broken

  @Test(arguments: rows) func hasItsName(row: Row) async throws {
    let peer = try await ScriptedTCPPeer(row.script)
    let error = await expectFailure(ofStrangerTo: peer.port, row.timeouts, row.expected)
    #expect(!"\(error)".unicodeScalars.contains { $0.value < 32 || $0.value == 127 })
    await peer.stop()
  }

  /// All of them at once, on the reactor of a connection that works.
  @Test func disturbsNoOther() async throws {
    try await withServer { server in
      let reactor = Reactor()
      let bystander = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server),
        on: reactor)
      try await bystander.connect()
      var timeouts = SSHTimeouts()
      // Time enough for each to come as far as it does, though all come at once.
      timeouts.handshake = .seconds(20)
      try await withThrowingTaskGroup(of: Void.self) { [timeouts] group in
        for row in Self.rows {
          group.addTask {
            let peer = try await ScriptedTCPPeer(row.script)
            await expectFailure(ofStrangerTo: peer.port, timeouts, on: reactor, row.expected)
            await peer.stop()
          }
        }
        group.addTask {
          for number in 0..<20 {
            let command = try await bystander.execute("exit \(number)")
            #expect(try await command.exitStatus() == .status(number))
          }
        }
        try await group.waitForAll()
      }
      await bystander.close()
      await reactor.stop()
    }
  }

  @Test func aRedirectIsNamed() async throws {
    let peer = try await ScriptedTCPPeer(.http)
    await #expect(
      throws: AppError.sshProtocolError(
        host: "127.0.0.1", detail: "it redirects to http://portal.example/login")
    ) { try await stranger(to: peer.port).connect() }
    await peer.stop()
  }

  @Test func aDeadlineIsNamedInSeconds() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    await #expect(throws: AppError.sshTimeout(seconds: 1)) {
      try await stranger(to: peer.port, .short).connect()
    }
    await peer.stop()
  }
}

/// Nothing listens at all.
@Suite(.timeLimit(.minutes(5))) struct NoPeerTests {
  @Test func aClosedPortIsRefused() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    await peer.stop()
    await expectFailure(
      of: stranger(to: peer.port), ExpectedFailure(.refused, in: .dial, exit: .unreachable))
  }

  @Test(arguments: ["no-such-host.invalid", "a..b", String(repeating: "a", count: 64)])
  func anUnknownNameIsNoAddress(name: String) async throws {
    let connection = stranger(to: 22, host: name)
    await #expect(throws: AppError.dnsError(host: name)) { try await connection.connect() }
    let context = await connection.lastFailure
    // A machine without a name server cannot know more.
    #expect([.nameUnknown, .nameTimeout].contains(context?.kind))
    #expect(context?.phase == .resolve)
    #expect(AppError.dnsError(host: name).exitCode(in: context) == .nameUnknown)
  }
}
