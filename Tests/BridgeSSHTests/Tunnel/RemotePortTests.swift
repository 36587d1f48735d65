import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

/// How a real sshd is asked for ports, until it listens there.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RemotePortTests {
  private func rule(_ target: Int, at port: Int = 0) -> ForwardRule {
    forwardRule(to: target, at: port, on: .remote)
  }

  /// It stands behind what was sent before, which may take longer than a channel's time.
  @Test func aPortIsGrantedHoweverLateTheAnswerComes() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await withScript({ client, record in
      try client.admit()
      // SSH_MSG_GLOBAL_REQUEST and SSH_MSG_REQUEST_SUCCESS
      _ = try client.expect(80)
      record("asked")
      gate.wait()
      try client.say(81) { $0.uint32(4242) }
      try client.listenToTheEnd()
    }) { server in
      var configuration = SSHConfiguration(user: "me", hostKeys: .anyKey)
      configuration.timeouts.channel = .milliseconds(100)
      let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
      try await withForwarder(endpoint, configuration) { forwarder in
        let asking = Task { try await forwarder.listen(rule(1)) }
        try await eventually { !server.collected.isEmpty }
        _ = try await Peer.run("import time; time.sleep(0.5)")
        gate.signal()
        #expect(try await asking.value == 4242)
      }
    }
  }

  /// libssh2 takes the answer to any global request for that to its next request of a port.
  @Test func aProbeBehindAnUploadDoesNotAnswerForAPort() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let sender = try await Program.started(
        "python3", "-c",
        """
        import socket,sys,os,time
        s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8)
        print(s.getsockname()[1],flush=True)
        c,_=s.accept()
        while not os.path.exists(sys.argv[1]): time.sleep(0.01)
        c.sendall(bytes(8<<20)); c.close()
        """, directory.file("go"))
      let proxy = try await FaultProxy(to: server.port)
      // Nothing but the lost link asks for a probe, however long the host is silent.
      var limits = Forwarder.Limits.longWait
      limits.keepalive = .seconds(3_600)
      try await withForwarder(server, at: proxy.port, limits) { forwarder in
        let port = try await forwarder.listen(rule(sender.port))
        let client = """
          import socket,sys
          s=socket.create_connection(("127.0.0.1",int(sys.argv[1]))); n=0
          while True:
              d=s.recv(65536)
              if not d: break
              n+=len(d)
          print(n)
          """
        let reading = Task { try await Peer.run(client, "\(port)") }
        _ = try await forwarder.next { if case .opened = $0 { true } else { nil } }
        try await proxy.inject(.freeze())
        try directory.write("", to: "go")
        // Until neither the window nor the kernel takes more.
        var (sent, unchanged) = (UInt64(0), 0)
        try await eventually {
          let now = try #require(await forwarder.connections.first).sent
          (sent, unchanged) = (now, now == sent ? unchanged + 1 : 0)
          return sent > 0 && unchanged == 100
        }
        await forwarder.linkLost(within: .seconds(60))
        var looks = 0
        try await eventually {
          looks += 1
          return looks == 100
        }
        try await proxy.inject(.lift)
        #expect(try await reading.value == "\(8 << 20)\n")
        _ = try await forwarder.listen(rule(proxy.port))
      }
      await proxy.stop()
      sender.end()
    }
  }

  @Test func aRefusalNamesTheForward() async throws {
    try await withServer { server in
      try await withForwarder(server) { forwarder in
        let taken = rule(9, at: server.port)
        let error = await failure { _ = try await forwarder.listen(taken) }
        guard case .sshConnectionFailed("127.0.0.1", let reason)? = error else {
          return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(reason.contains("-R 127.0.0.1:\(server.port):127.0.0.1:9"))
        // The session is as good as before.
        let port = try await forwarder.listen(rule(9))
        #expect(port > 0)
        #expect(await forwarder.sessionCount == 1)
      }
    }
  }

  @Test func aPortThatIsStillTakenIsWaitedFor() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let stale = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        await forwarder.keepTrying(rule(echo.port, at: stale.port))
        let wait = try await forwarder.next { event -> Duration? in
          if case .unavailable(_, _, let retry) = event { retry } else { nil }
        }
        #expect(wait == ForwardAttempts.waits.first)
        stale.end()
        #expect(try await forwarder.nextPort() == stale.port)
        #expect(try await Peer.run(Peer.client, "\(stale.port)", "10").hasPrefix("10 "))
      }
      echo.end()
    }
  }

  @Test func aLostSessionIsReplacedAndAskedForTheSamePort() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        let port = try await forwarder.listen(rule(echo.port))
        #expect(try await forwarder.nextPort() == port)
        let carried = Task { try await Peer.run(Peer.waiter, "\(port)") }
        _ = try await forwarder.next { if case .opened(let id, _) = $0 { id } else { nil } }
        await server.killSessions()
        // Of what was carried none hangs.
        #expect(try await carried.value != "data\n")
        _ = try await forwarder.next { event -> Bool? in
          if case .closed(_, _, _, let isWhole) = event { !isWhole } else { nil }
        }
        #expect(try await forwarder.nextPort() == port)
        #expect(try await Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
      }
      echo.end()
    }
  }

  @Test func aUnixSocketOfTheHostIsRefusedByName() async throws {
    try await withServer { server in
      try await withForwarder(server) { forwarder in
        let error = await failure {
          _ = try await forwarder.listen(
            ForwardRule(from: .socket(path: "/tmp/x"), to: .dynamic, on: .remote))
        }
        #expect(error == .featureUnavailable(feature: "-R /tmp/x (a unix socket of the host)"))
        #expect(await forwarder.sessionCount == 0)
      }
    }
  }

  @Test func aPortThatIsAskedForWhileTheLinkIsDownIsCanceledByClose() async throws {
    try await withServer { server in
      let (up, isUp) = AsyncStream.makeStream(of: Void.self)
      try await withForwarder(
        server,
        link: { () throws(AppError) in
          for await _ in up { return }
          throw .cancelled
        }
      ) { forwarder in
        let asking = Task { await failure { _ = try await forwarder.listen(rule(9)) } }
        await forwarder.close()
        #expect(await asking.value == .cancelled)
      }
      isUp.finish()
    }
  }

  @Test func aPortOfThisMachineInUseIsTriedAgain() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let other = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      try await withForwarder(server) { forwarder in
        await forwarder.keepTrying(forwardRule(to: echo.port, at: other.port))
        _ = try await forwarder.next { event -> Bool? in
          if case .unavailable = event { true } else { nil }
        }
        other.end()
        await forwarder.linkIsBack()
        #expect(try await forwarder.nextPort() == other.port)
        #expect(try await Peer.run(Peer.client, "\(other.port)", "10").hasPrefix("10 "))
      }
      echo.end()
    }
  }

  /// A link that had given up is dialed again when its owner says so.
  @Test func aPortIsAskedForWhenALinkThatHadGivenUpIsBack() async throws {
    try await withServer { server in
      let isUp = Mutex(false)
      let (asked, ask) = AsyncStream.makeStream(of: Void.self)
      try await withForwarder(
        server,
        link: { () throws(AppError) in
          ask.yield()
          guard isUp.withLock({ $0 }) else { throw .networkUnavailable }
        }
      ) { forwarder in
        await forwarder.keepTrying(rule(9))
        for await _ in asked { break }
        isUp.withLock { $0 = true }
        try await eventually {
          await forwarder.linkIsBack()
          return await forwarder.sessionCount == 1
        }
        #expect(try await forwarder.nextPort() > 0)
      }
    }
  }

  /// As one does that takes the request for an attack.
  @Test func aHostThatEndsEachSessionIsLoggedInToAtGrowingIntervals() async throws {
    try await withScript({ client, record in
      try client.admit()
      _ = try client.expect(80)
      record("asked")
    }) { server in
      let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
      let configuration = SSHConfiguration(user: "me", hostKeys: .anyKey)
      try await withForwarder(endpoint, configuration) { forwarder in
        let begin = ContinuousClock.now
        await forwarder.keepTrying(rule(9))
        try await eventually { server.collected.count >= 4 }
        #expect(.now - begin >= .milliseconds(250 + 500 + 1000))
      }
    }
  }
}
