import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// Local ports that lead through a real sshd to real programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ForwarderTests {
  /// Sends its end first, and then reads what it is sent after that, slowly with a second argument.
  private static let endFirst = """
    import socket,hashlib,sys,time
    s=socket.socket()
    if sys.argv[2:]: s.setsockopt(socket.SOL_SOCKET,socket.SO_RCVBUF,8192)
    s.bind(("127.0.0.1",0)); s.listen(8)
    print(s.getsockname()[1],flush=True)
    c,_=s.accept()
    c.sendall(b"y"*1000000); c.shutdown(socket.SHUT_WR)
    h=hashlib.sha256()
    while True:
        d=c.recv(8192 if sys.argv[2:] else 65536)
        if not d: break
        h.update(d)
        if sys.argv[2:]: time.sleep(.001)
    open(sys.argv[1],"w").write(h.hexdigest())
    """

  @Test(arguments: [ForwardRule.Side.local, .remote])
  func eachDirectionEndsByItself(side: ForwardRule.Side) async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port, on: side))
        let words = try await Peer.run(Peer.client, "\(port)", "3000000").split(separator: " ")
        #expect(words.first == "3000000")
        #expect(words.count == 3 && words[1] == words[2].prefix(64))
        let counts = try await forwarder.next { event -> [UInt64]? in
          guard case .closed(_, let sent, let received, true) = event else { return nil }
          return [sent, received]
        }
        #expect(counts == [3_000_000, 3_000_000])
      }
      echo.end()
    }
  }

  @Test func theFarSideMayEndFirst() async throws {
    try await withServer { server in
      try await withForwarder(server) { try await Self.expectWhole(2_000_000, through: $0) }
    }
  }

  /// Its window is small: it is shut when the last bytes and the end of one direction come, while
  /// the other direction has ended already.
  @Test(arguments: [ForwardRule.Side.local, .remote])
  func whatTheServerHasNoWindowForYetArrives(side: ForwardRule.Side) async throws {
    guard await SSHServer.canReplacePasswords() else { return }
    let server = try await DropbearServer(admits: true)
    let configuration = SSHConfiguration(
      user: server.user, credentials: [.keyFile(try #require(server.identityFile))],
      hostKeys: .anyKey)
    try await withForwarder(Endpoint(host: "127.0.0.1", port: server.port), configuration) {
      switch side {
      case .local: try await Self.expectWhole(700_000, through: $0, slowly: true)
      case .remote:
        let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
        let port = try await $0.listen(forwardRule(to: echo.port, on: side))
        let words = try await Peer.run(Peer.client, "\(port)", "700000", "slow")
          .split(separator: " ")
        #expect(words.first == "700000")
        #expect(words.count == 3 && words[1] == words[2].prefix(64))
        echo.end()
      }
    }
    await server.stop()
  }

  /// Sends `count` bytes to a program that has sent its end before.
  private static func expectWhole(
    _ count: Int, through forwarder: Forwarder, slowly: Bool = false
  ) async throws {
    let directory = try TemporaryDirectory()
    let peer = try await Program.started(
      ["python3", "-c", endFirst, directory.file("digest")] + (slowly ? ["slowly"] : []))
    let port = try await forwarder.listen(forwardRule(to: peer.port))
    let words = try await Peer.run(Peer.client, "\(port)", "\(count)", "later").split(
      separator: " ")
    #expect(words.first == "1000000")
    var digest = ""
    try await eventually {
      digest = (try? directory.text("digest")) ?? ""
      return !digest.isEmpty
    }
    #expect(words.last?.prefix(64) == digest[...])
    peer.end()
  }

  /// Two hundred beside the other tests; a thousand in `scripts/integrity`.
  private static let many =
    ProcessInfo.processInfo.environment["BRIDGE_INTEGRITY"] == "full" ? 1000 : 200

  /// Opens so many connections at once, each through SOCKS 5 where a target is given, and counts
  /// those whose bytes came back and those that were reset.
  private static let opensMany = """
    import socket,sys,struct
    port=int(sys.argv[1]); target=int(sys.argv[2])
    socks=[socket.create_connection(("127.0.0.1",port)) for _ in range(\(many))]
    def step(body):
        try: return body()
        except OSError: return None
    def reads(s,n):
        data=b""
        while len(data)<n:
            d=s.recv(n-len(data))
            if not d: raise ConnectionError()
            data+=d
        return data
    good=lost=0
    if target:
        for s in socks: step(lambda: s.sendall(b"\\5\\1\\0"))
        for s in socks:
            request=b"\\5\\1\\0\\1\\x7f\\0\\0\\1"+struct.pack("!H",target)
            step(lambda: (reads(s,2),s.sendall(request)))
    for i,s in enumerate(socks):
        def send():
            if target and reads(s,10)[1]!=0: raise ConnectionError()
            s.sendall(b"%d"%i*100); s.shutdown(socket.SHUT_WR)
        step(send)
    for i,s in enumerate(socks):
        def receive():
            data=b""
            while True:
                d=s.recv(65536)
                if not d: return data
                data+=d
        if step(receive)==b"%d"%i*100: good+=1
        else: lost+=1
    print(good,lost)
    """

  @Test(arguments: [false, true])
  func manyConnectionsAtOnceAllArrive(isDynamic: Bool) async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      var limits = Forwarder.Limits()
      limits.waiting = Self.many
      // However slow the machine is.
      limits.wait = .seconds(120)
      try await withForwarder(server, limits) { forwarder in
        let dynamic = ForwardRule(from: .port(address: nil, 0), to: .dynamic)
        let port = try await forwarder.listen(isDynamic ? dynamic : forwardRule(to: echo.port))
        let counts = try await Peer.run(Self.opensMany, "\(port)", isDynamic ? "\(echo.port)" : "0")
        #expect(counts == "\(Self.many) 0\n")
        #expect(await forwarder.sessionCount <= 4)
      }
      echo.end()
    }
  }

  @Test func whatIsMoreThanMayWaitIsRefusedAndTheRestArrives() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      var limits = Forwarder.Limits()
      limits.waiting = 10
      limits.wait = .seconds(120)
      try await withForwarder(server, limits) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        let counts = try await Peer.run(Self.opensMany, "\(port)", "0").split(separator: " ")
        let numbers = counts.compactMap { Int($0.filter(\.isNumber)) }
        #expect(numbers.count == 2 && numbers[0] > 0 && numbers.reduce(0, +) == Self.many)
      }
      echo.end()
    }
  }

  @Test func moreThanTheBoundAreResetAndTold() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      var limits = Forwarder.Limits()
      limits.connections = 2
      try await withForwarder(server, limits) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        let script = """
          import socket,sys
          socks=[socket.create_connection(("127.0.0.1",int(sys.argv[1]))) for _ in range(2)]
          s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
          try: print("end" if s.recv(1)==b"" else "data")
          except ConnectionResetError: print("reset")
          """
        #expect(try await Peer.run(script, "\(port)") == "reset\n")
        let error = try await forwarder.nextRefusal().error
        #expect("\(error)".contains("2 connections are forwarded already"))
      }
      echo.end()
    }
  }

  @Test func aClosedPortIsARefusalOfThatConnectionOnly() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let proxy = try await FaultProxy(to: server.port)
      let closed = proxy.port
      await proxy.stop()
      try await withForwarder(server) { forwarder in
        let bad = try await forwarder.listen(forwardRule(to: closed))
        let good = try await forwarder.listen(forwardRule(to: echo.port))
        #expect(try await Peer.run(Peer.client, "\(bad)", "10") == "reset\n")
        #expect(try await Peer.run(Peer.client, "\(good)", "10").hasPrefix("10 "))
        let (target, error) = try await forwarder.nextRefusal()
        #expect(target == "127.0.0.1:\(closed)")
        #expect("\(error)".contains("Connection refused"))
      }
      echo.end()
    }
  }

  @Test func aTargetThatSwallowsTheDialHoldsUpNoOther() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let swallowing = try FullListener()
      try await withForwarder(server) { forwarder in
        let bad = try await forwarder.listen(forwardRule(to: swallowing.port))
        let good = try await forwarder.listen(forwardRule(to: echo.port))
        let waiting = Task { try await Peer.run(Peer.client, "\(bad)", "10") }
        try await eventually { await forwarder.count > 0 }
        for _ in 0..<3 {
          #expect(try await Peer.run(Peer.client, "\(good)", "10").hasPrefix("10 "))
        }
        #expect(await forwarder.sessionCount == 2)
        await forwarder.close()
        #expect(try await waiting.value == "reset\n")
      }
      echo.end()
    }
  }

  @Test func whatConnectsWhileTheLinkIsDownWaitsForIt() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let (up, isUp) = AsyncStream.makeStream(of: Void.self)
      try await withForwarder(
        server, link: { () throws(AppError) in for await _ in up { return } }
      ) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        let waiting = Task { try await Peer.run(Peer.client, "\(port)", "10") }
        try await eventually { await forwarder.count > 0 }
        #expect(await forwarder.sessionCount == 0)
        isUp.yield()
        #expect(try await waiting.value.hasPrefix("10 "))
      }
      echo.end()
    }
  }

  @Test func theWaitForTheLinkIsBounded() async throws {
    try await withServer { server in
      var limits = Forwarder.Limits()
      limits.wait = .milliseconds(100)
      let (up, isUp) = AsyncStream.makeStream(of: Void.self)
      try await withForwarder(
        server, limits,
        link: { () throws(AppError) in
          for await _ in up { return }
          throw .cancelled
        }
      ) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: 9))
        #expect(try await Peer.run(Peer.client, "\(port)", "10") == "reset\n")
        let error = try await forwarder.nextRefusal().error
        #expect("\(error)".contains("did not come back"))
      }
      isUp.finish()
    }
  }

  @Test func aSessionThatIsLostEndsWhatItCarriesAndNoMore() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        let carried = Task { try await Peer.run(Peer.waiter, "\(port)") }
        var events = forwarder.events.makeAsyncIterator()
        guard case .opened? = await events.next(isolation: nil) else { return #expect(Bool(false)) }
        await server.killSessions()
        #expect(try await carried.value.hasSuffix("reset\n"))
        #expect(try await Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
      }
      echo.end()
    }
  }

  @Test(arguments: ["--socks5-hostname", "--socks5", "--socks4", "--socks4a"])
  func curlLoadsThroughADynamicPort(_ option: String) async throws {
    try await withServer { server in
      let (web, content) = try await Peer.web()
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(
          ForwardRule(from: .port(address: "127.0.0.1", 0), to: .dynamic))
        let loaded = try await Program.output(
          of: "/usr/bin/curl",
          ["-sS", option, "127.0.0.1:\(port)", "http://127.0.0.1:\(web.port)/"])
        #expect(loaded == content)
      }
      web.end()
    }
  }

  @Test func anythingButSOCKSIsRefusedByADynamicPort() async throws {
    try await withServer { server in
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(
          ForwardRule(from: .port(address: "127.0.0.1", 0), to: .dynamic))
        _ = try? await Program.output(
          of: "/usr/bin/curl", ["-sS", "-m", "20", "http://127.0.0.1:\(port)/"])
        let (target, error) = try await forwarder.nextRefusal()
        #expect(target == nil)
        #expect(
          error == .validationError(field: "SOCKS", message: "The request is not a SOCKS request."))
        #expect(await forwarder.sessionCount == 0)
      }
    }
  }

  /// As behind a host on the way that is down: its dial goes on, and what waits for it ends.
  @Test func whatWaitsForASessionThatIsNeverOpenIsRefusedInTime() async throws {
    var limits = Forwarder.Limits()
    limits.wait = .milliseconds(100)
    let forwarder = Forwarder(
      through: "behind", limits: limits, on: ReactorGroup.shared.next(),
      link: { () async throws(AppError) in },
      session: { () async throws(AppError) -> SSHConnection in
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw .cancelled
      })
    let port = try await forwarder.listen(forwardRule(to: 1))
    for _ in 0..<2 {
      #expect(try await Peer.run(Peer.waiter, "\(port)") == "reset\n")
      let (_, error) = try await forwarder.nextRefusal()
      #expect("\(error)".contains("while the forwarded connection waited"))
    }
    await forwarder.close()
  }

  @Test func aPortInUseIsNamed() async throws {
    try await withServer { server in
      try await withForwarder(server) { forwarder in
        let error = await failure {
          _ = try await forwarder.listen(
            ForwardRule(from: .port(address: "127.0.0.1", server.port), to: .dynamic))
        }
        #expect(
          error
            == .sshConnectionFailed(
              host: "127.0.0.1:\(server.port)", reason: "Something listens there already."))
      }
    }
  }

  @Test func aUnixSocketIsForThisUserAloneAndGoesWithTheForwarder() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let path = directory.file("socket")
      try await withForwarder(server) { forwarder in
        _ = try await forwarder.listen(
          ForwardRule(from: .socket(path: path), to: .fixed(.socket(path: "/no"))))
        #expect(try directory.mode("socket") == 0o600)
        let again = await failure {
          _ = try await forwarder.listen(ForwardRule(from: .socket(path: path), to: .dynamic))
        }
        #expect("\(String(describing: again))".contains("A file of this name exists"))
      }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  /// As one does that allows a user no more logins.
  @Test func aHostThatEndsEachSessionIsLoggedInToAtGrowingIntervals() async throws {
    try await withScript({ client, record in
      try client.admit()
      record("login")
    }) { server in
      let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
      var limits = Forwarder.Limits()
      limits.wait = .seconds(10)
      let configuration = SSHConfiguration(user: "me", hostKeys: .anyKey)
      try await withForwarder(endpoint, configuration, limits) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: 9))
        let client = Task { try await Peer.run(Peer.waiter, "\(port)") }
        _ = try await forwarder.nextRefusal()
        _ = try await client.value
        // After 0, 0.25, 0.75, 1.75, 3.75, 7.75 and, where it waited once more, 11.75 s.
        #expect((2...7).contains(server.collected.count))
      }
    }
  }
}
