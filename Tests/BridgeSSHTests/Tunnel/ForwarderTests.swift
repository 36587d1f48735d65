import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// Local ports that lead through a real sshd to real programs.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ForwarderTests {
  /// Reads to the end, then sends all of it back: what comes back proves that the end of one
  /// direction left the other open.
  private static let echoAfterEnd = """
    import socket,threading
    s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(512)
    print(s.getsockname()[1],flush=True)
    def serve(c):
        data=b""
        while True:
            d=c.recv(65536)
            if not d: break
            data+=d
        c.sendall(data); c.close()
    while True:
        c,_=s.accept()
        threading.Thread(target=serve,args=(c,),daemon=True).start()
    """

  /// Sends its end first, and then what it was sent after that.
  private static let endFirst = """
    import socket,hashlib,sys
    s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8)
    print(s.getsockname()[1],flush=True)
    c,_=s.accept()
    c.sendall(b"y"*1000000); c.shutdown(socket.SHUT_WR)
    h=hashlib.sha256()
    while True:
        d=c.recv(65536)
        if not d: break
        h.update(d)
    open(sys.argv[1],"w").write(h.hexdigest())
    """

  /// Connects, sends `count` bytes and its end, and prints the digest of what it got.
  private static let client = """
    import socket,sys,hashlib,threading
    data=bytes((i*31+(i>>8))&255 for i in range(int(sys.argv[2])))
    s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
    h=hashlib.sha256(); n=0
    if len(sys.argv)>3:
        while True:
            d=s.recv(65536)
            if not d: break
            n+=len(d)
    s.sendall(data); s.shutdown(socket.SHUT_WR)
    try:
        while True:
            d=s.recv(65536)
            if not d: break
            n+=len(d); h.update(d)
        print(n,h.hexdigest(),hashlib.sha256(data).hexdigest())
    except ConnectionResetError: print("reset")
    """

  private func run(_ script: String, _ arguments: String...) async throws -> String {
    try await Program.output(of: "/usr/bin/env", ["python3", "-c", script] + arguments)
  }

  private func rule(_ target: Int) -> ForwardRule {
    ForwardRule(
      from: .port(address: nil, 0), to: .fixed(.port(Endpoint(host: "127.0.0.1", port: target))))
  }

  private func withForwarder(
    _ server: SSHServer, at port: Int? = nil, _ limits: Forwarder.Limits = .init(),
    link: @escaping @Sendable () async throws(AppError) -> Void = { () throws(AppError) in },
    _ body: (Forwarder) async throws -> Void
  ) async throws {
    let reactor = ReactorGroup.shared.next()
    let configuration = trusting(server)
    let endpoint = Endpoint(host: "127.0.0.1", port: port ?? server.port)
    let forwarder = Forwarder(
      through: "127.0.0.1", limits: limits, on: reactor, link: link,
      session: { () async throws(AppError) -> SSHConnection in
        let connection = SSHConnection(to: endpoint, configuration: configuration, on: reactor)
        try await connection.connect()
        return connection
      })
    do {
      try await body(forwarder)
    } catch {
      await forwarder.close()
      throw error
    }
    await forwarder.close()
    #expect(OpenSockets.to(port: endpoint.port).isEmpty)
  }

  @Test func eachDirectionEndsByItself() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        let words = try await run(Self.client, "\(port)", "3000000").split(separator: " ")
        #expect(words.first == "3000000")
        #expect(words.count == 3 && words[1] == words[2].prefix(64))
        for await event in forwarder.events {
          guard case .closed(_, let sent, let received, let isWhole) = event else { continue }
          #expect(sent == 3_000_000 && received == 3_000_000 && isWhole)
          break
        }
      }
      echo.end()
    }
  }

  @Test func theFarSideMayEndFirst() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let peer = try await Program.started("python3", "-c", Self.endFirst, directory.file("digest"))
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(rule(peer.port))
        let words = try await run(Self.client, "\(port)", "2000000", "later").split(separator: " ")
        #expect(words.first == "1000000")
        var digest = ""
        while digest.isEmpty {
          await Task.yield()
          digest = (try? directory.text("digest")) ?? ""
        }
        #expect(words.last?.prefix(64) == digest[...])
      }
      peer.end()
    }
  }

  @Test func manyConnectionsAtOnceAllArrive() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      // However slow the machine is.
      var limits = Forwarder.Limits()
      limits.wait = .seconds(120)
      try await withForwarder(server, limits) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        let script = """
          import socket,sys
          socks=[socket.create_connection(("127.0.0.1",int(sys.argv[1]))) for _ in range(200)]
          for i,s in enumerate(socks): s.sendall(b"%d"%i*1000); s.shutdown(socket.SHUT_WR)
          good=0
          for i,s in enumerate(socks):
              data=b""
              while True:
                  d=s.recv(65536)
                  if not d: break
                  data+=d
              good+=data==b"%d"%i*1000
          print(good)
          """
        #expect(try await run(script, "\(port)") == "200\n")
        #expect(await forwarder.sessionCount <= 4)
      }
      echo.end()
    }
  }

  @Test func moreThanTheBoundAreResetAndTold() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      var limits = Forwarder.Limits()
      limits.connections = 2
      try await withForwarder(server, limits) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        let script = """
          import socket,sys
          socks=[socket.create_connection(("127.0.0.1",int(sys.argv[1]))) for _ in range(2)]
          s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
          try: print("end" if s.recv(1)==b"" else "data")
          except ConnectionResetError: print("reset")
          """
        #expect(try await run(script, "\(port)") == "reset\n")
        for await event in forwarder.events {
          guard case .refused(_, _, let error) = event else { continue }
          #expect("\(error)".contains("2 connections are forwarded already"))
          break
        }
      }
      echo.end()
    }
  }

  @Test func aClosedPortIsARefusalOfThatConnectionOnly() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      let proxy = try await FaultProxy(to: server.port)
      let closed = proxy.port
      await proxy.stop()
      try await withForwarder(server) { forwarder in
        let bad = try await forwarder.listen(rule(closed))
        let good = try await forwarder.listen(rule(echo.port))
        #expect(try await run(Self.client, "\(bad)", "10") == "reset\n")
        #expect(try await run(Self.client, "\(good)", "10").hasPrefix("10 "))
        for await event in forwarder.events {
          guard case .refused(_, let target, let error) = event else { continue }
          #expect(target == "127.0.0.1:\(closed)")
          #expect("\(error)".contains("Connection refused"))
          break
        }
      }
      echo.end()
    }
  }

  @Test func aTargetThatSwallowsTheDialHoldsUpNoOther() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      let swallowing = try FullListener()
      try await withForwarder(server) { forwarder in
        let bad = try await forwarder.listen(rule(swallowing.port))
        let good = try await forwarder.listen(rule(echo.port))
        let waiting = Task { try await run(Self.client, "\(bad)", "10") }
        while await forwarder.count == 0 { await Task.yield() }
        for _ in 0..<3 {
          #expect(try await run(Self.client, "\(good)", "10").hasPrefix("10 "))
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
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      let (up, isUp) = AsyncStream.makeStream(of: Void.self)
      try await withForwarder(
        server, link: { () throws(AppError) in for await _ in up { return } }
      ) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        let waiting = Task { try await run(Self.client, "\(port)", "10") }
        while await forwarder.count == 0 { await Task.yield() }
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
        let port = try await forwarder.listen(rule(9))
        #expect(try await run(Self.client, "\(port)", "10") == "reset\n")
        for await event in forwarder.events {
          guard case .refused(_, _, let error) = event else { continue }
          #expect("\(error)".contains("did not come back"))
          break
        }
      }
      isUp.finish()
    }
  }

  @Test func aSessionThatIsLostEndsWhatItCarriesAndNoMore() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Self.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        let script = """
          import socket,sys
          s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
          s.sendall(b"x"); print("sent",file=sys.stderr,flush=True)
          try: print("end" if s.recv(1)==b"" else "data")
          except ConnectionResetError: print("reset")
          """
        let carried = Task { try await run(script, "\(port)") }
        var events = forwarder.events.makeAsyncIterator()
        guard case .opened? = await events.next(isolation: nil) else { return #expect(Bool(false)) }
        await server.killSessions()
        #expect(try await carried.value.hasSuffix("reset\n"))
        #expect(try await run(Self.client, "\(port)", "10").hasPrefix("10 "))
      }
      echo.end()
    }
  }

  @Test(arguments: ["--socks5-hostname", "--socks5", "--socks4", "--socks4a"])
  func curlLoadsThroughADynamicPort(_ option: String) async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let content = String(repeating: "0123456789abcdef", count: 60_000)
      try directory.write(content, to: "file")
      let web = try await Program.started(
        "python3", "-c",
        """
        import http.server,os
        os.chdir("\(directory.path)")
        s=http.server.ThreadingHTTPServer(("127.0.0.1",0),http.server.SimpleHTTPRequestHandler)
        print(s.server_address[1],flush=True)
        import sys; sys.stderr=open(os.devnull,"w")
        s.serve_forever()
        """)
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(
          ForwardRule(from: .port(address: "127.0.0.1", 0), to: .dynamic))
        let loaded = try await Program.output(
          of: "/usr/bin/curl",
          ["-sS", option, "127.0.0.1:\(port)", "http://127.0.0.1:\(web.port)/file"])
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
        for await event in forwarder.events {
          guard case .refused(_, nil, .validationError("SOCKS", let message)) = event else {
            continue
          }
          #expect(message == "What came is no SOCKS request.")
          break
        }
        #expect(await forwarder.sessionCount == 0)
      }
    }
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
              host: "127.0.0.1:\(server.port)", reason: "Another program listens there."))
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
        #expect("\(String(describing: again))".contains("Another program listens there"))
      }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }
}
