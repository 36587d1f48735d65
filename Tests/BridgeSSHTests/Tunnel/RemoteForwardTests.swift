import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// Ports of a real sshd that lead to real programs here.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RemoteForwardTests {
  private func rule(_ target: Int, at port: Int = 0) -> ForwardRule {
    forwardRule(to: target, at: port, on: .remote)
  }

  @Test func connectionsToTwoPortsAtOnceAmongProbesAreNotMixedUp() async throws {
    try await withServer { server in
      let script = """
        import socket,sys,threading
        s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(512)
        print(s.getsockname()[1],flush=True)
        def serve(c):
            data=b""
            while True:
                d=c.recv(65536)
                if not d: break
                data+=d
            c.sendall(sys.argv[1].encode()+data); c.close()
        while True:
            c,_=s.accept()
            threading.Thread(target=serve,args=(c,),daemon=True).start()
        """
      let first = try await Program.started("python3", "-c", script, "a")
      let second = try await Program.started("python3", "-c", script, "b")
      try await withForwarder(server) { forwarder in
        let ports = [
          try await forwarder.listen(rule(first.port)),
          try await forwarder.listen(rule(second.port)),
        ]
        let client = """
          import socket,sys
          names="ab"; ports=[int(p) for p in sys.argv[1:]]; good=0
          socks=[(i,socket.create_connection(("127.0.0.1",ports[i%2]))) for i in range(40)]
          for i,s in socks: s.sendall(b"%d"%i*500); s.shutdown(socket.SHUT_WR)
          for i,s in socks:
              data=b""
              while True:
                  d=s.recv(65536)
                  if not d: break
                  data+=d
              good+=data==names[i%2].encode()+b"%d"%i*500
          print(good)
          """
        for _ in 0..<5 {
          // Each probe takes a channel's number between those of the connections.
          let running = Task { try await Peer.run(client, "\(ports[0])", "\(ports[1])") }
          for _ in 0..<20 {
            await forwarder.linkLost(within: .seconds(60))
            await Task.yield()
          }
          #expect(try await running.value == "40\n")
        }
        #expect(await forwarder.sessionCount == 1)
      }
      first.end()
      second.end()
    }
  }

  /// The session went meanwhile, and there is no other: nothing is carried or waits then.
  @Test func aTargetThatIsReachedAfterTheLinkWasLostIsOfNoUse() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      // The kernel drops what asks for a connection while the queue is full.
      let target = try await Program.started(
        "python3", "-c",
        """
        import socket,sys,os,time
        s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(0)
        full=[socket.socket() for _ in range(4)]
        for f in full: f.setblocking(False); f.connect_ex(s.getsockname())
        print(s.getsockname()[1],flush=True)
        while not os.path.exists(sys.argv[1]): time.sleep(0.01)
        while True: s.accept()
        """, directory.file("go"))
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port) { forwarder in
        let port = try await forwarder.listen(rule(target.port))
        let script = """
          import socket,sys
          s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
          try: s.recv(1)
          except OSError: pass
          """
        let client = Task { try await Peer.run(script, "\(port)") }
        try await eventually { await !forwarder.connections.isEmpty }
        await proxy.stop()
        _ = try await client.value
        // The host may have noticed it first; a target that is reached then is carried for a while.
        try await eventually { await forwarder.sessionCount == 0 }
        try directory.write("", to: "go")
        let (_, error) = try await forwarder.nextRefusal()
        #expect("\(error)".contains("The link was lost"))
        #expect(await forwarder.connections.isEmpty)
      }
      target.end()
    }
  }

  @Test func aTargetThatDoesNotReadHoldsBackTheHost() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let slow = try await Program.started(
        "python3", "-c",
        """
        import socket,sys,os,time
        s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8)
        print(s.getsockname()[1],flush=True)
        c,_=s.accept()
        while not os.path.exists(sys.argv[1]): time.sleep(0.01)
        n=0
        while True:
            d=c.recv(1<<20)
            if not d: break
            n+=len(d)
        c.sendall(b"%d"%n); c.close()
        """, directory.file("go"))
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port) { forwarder in
        let port = try await forwarder.listen(rule(slow.port))
        let other = try await forwarder.listen(rule(echo.port))
        let script = """
          import socket,sys
          s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
          s.sendall(bytes(64<<20)); s.shutdown(socket.SHUT_WR); print(s.recv(99).decode())
          """
        let sending = Task { try await Peer.run(script, "\(port)") }
        func passed() async -> Int {
          await proxy.connections.values.reduce(0) { $0 + $1.toClient }
        }
        var (last, now) = (-1, await passed())
        while now < 1 << 20 || now - last > 1 << 16 {
          // Others go on meanwhile.
          #expect(try await Peer.run(Peer.client, "\(other)", "10").hasPrefix("10 "))
          (last, now) = (now, await passed())
        }
        #expect(now < 12 << 20)
        try directory.write("", to: "go")
        #expect(try await sending.value == "\(64 << 20)\n")
      }
      await proxy.stop()
      slow.end()
      echo.end()
    }
  }

  @Test func curlLoadsThroughAPortOfTheHostAcrossResets() async throws {
    try await withServer { server in
      let (web, content) = try await Peer.web()
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port) { forwarder in
        let port = try await forwarder.listen(rule(web.port))
        #expect(try await forwarder.nextPort() == port)
        for round in 0..<4 {
          let loaded = try await Program.output(
            of: "/usr/bin/curl", ["-sS", "-m", "60", "http://127.0.0.1:\(port)/"])
          #expect(loaded == content, "round \(round)")
          try await proxy.inject(.reset)
          #expect(try await forwarder.nextPort() == port)
        }
      }
      await proxy.stop()
      web.end()
    }
  }

  @Test func aPortWithoutATargetSpeaksSOCKS() async throws {
    try await withServer { server in
      let (web, content) = try await Peer.web()
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(
          ForwardRule(from: .port(address: "127.0.0.1", 0), to: .dynamic, on: .remote))
        let loaded = try await Program.output(
          of: "/usr/bin/curl",
          ["-sS", "--socks5-hostname", "127.0.0.1:\(port)", "http://127.0.0.1:\(web.port)/"])
        #expect(loaded == content)
      }
      web.end()
    }
  }

  @Test func aTargetThatIsNotThereEndsThatConnectionOnly() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      try await withForwarder(server) { forwarder in
        let path = directory.file("none")
        let port = try await forwarder.listen(
          ForwardRule(
            from: .port(address: nil, 0), to: .fixed(.socket(path: path)), on: .remote))
        #expect(try await !Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
        let (target, error) = try await forwarder.nextRefusal()
        #expect(target == path)
        #expect("\(error)".contains("No such file"))
        let other = try await forwarder.listen(rule(9))
        #expect(other > 0)
      }
    }
  }

  @Test func moreThanTheBoundAreClosed() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      var limits = Forwarder.Limits()
      limits.connections = 2
      try await withForwarder(server, limits) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        let script = """
          import socket,sys
          socks=[socket.create_connection(("127.0.0.1",int(sys.argv[1]))) for _ in range(3)]
          try: print("end" if socks[2].recv(1)==b"" else "data")
          except ConnectionResetError: print("end")
          """
        #expect(try await Peer.run(script, "\(port)") == "end\n")
        let error = try await forwarder.nextRefusal().error
        #expect("\(error)".contains("2 connections are forwarded already"))
      }
      echo.end()
    }
  }

  @Test(arguments: [ForwardRule.Side.local, .remote])
  func aDropbearForwardsToo(side: ForwardRule.Side) async throws {
    guard await SSHServer.canReplacePasswords() else { return }
    let server = try await DropbearServer(admits: true)
    let (web, content) = try await Peer.web()
    let forwarder = Forwarder(
      through: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: server.user, credentials: [.keyFile(try #require(server.identityFile))],
        hostKeys: .anyKey),
      link: { () throws(AppError) in })
    let port = try await forwarder.listen(forwardRule(to: web.port, on: side))
    for _ in 0..<3 {
      let loaded = try await Program.output(
        of: "/usr/bin/curl", ["-sS", "-m", "60", "http://127.0.0.1:\(port)/"])
      #expect(loaded == content)
    }
    await forwarder.close()
    await server.stop()
    web.end()
  }
}
