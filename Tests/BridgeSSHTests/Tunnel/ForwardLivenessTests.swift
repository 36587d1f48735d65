import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTestKit
import Foundation
import Testing

/// When the host of a forwarder's sessions counts as dead.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ForwardLivenessTests {
  private static let soon = {
    var limits = Forwarder.Limits()
    (limits.keepalive, limits.deadAfter) = (.milliseconds(200), .seconds(10))
    return limits
  }()

  /// What is sent holds up the probe, and the host's kernel takes it all the time.
  @Test(arguments: [false, true])
  func aSlowUplinkDoesNotCountAsSilence(isLinkLost: Bool) async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let way = try await Program.started(
        "python3", "-c", Peer.slowWay, "\(server.port)", "16000")
      try await withForwarder(server, at: way.port, Self.soon) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        let upload = Task { try await Peer.run(Peer.client, "\(port)", "224000") }
        _ = try await forwarder.next { if case .opened = $0 { true } else { nil } }
        if isLinkLost { await forwarder.linkLost(within: .seconds(10)) }
        #expect(try await upload.value.hasPrefix("224000 "))
      }
      way.end()
      echo.end()
    }
  }

  @Test(arguments: ["", "lost", "back"])
  func aHostThatIsSilentForTooLongEndsWhatItsSessionCarries(link: String) async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let proxy = try await FaultProxy(to: server.port)
      var limits = Self.soon
      if !link.isEmpty { limits.deadAfter = .seconds(3_600) }
      try await withForwarder(server, at: proxy.port, limits) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        let carried = Task { try await Peer.run(Peer.waiter, "\(port)") }
        _ = try await forwarder.next { if case .opened = $0 { true } else { nil } }
        try await proxy.inject(.freeze())
        if link == "lost" { await forwarder.linkLost(within: .milliseconds(500)) }
        if link == "back" { await forwarder.linkIsBack() }
        #expect(try await carried.value.hasSuffix("reset\n"))
        #expect(try await Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
      }
      await proxy.stop()
      echo.end()
    }
  }

  /// It carried nothing for longer than the keepalive, and is used again.
  @Test func aSessionThatIsUsedAgainIsWatchedAgain() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port, Self.soon) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        #expect(try await Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
        _ = try await Peer.run("import time; time.sleep(0.5)")
        let carried = Task { try await Peer.run(Peer.waiter, "\(port)") }
        for _ in 0..<2 {
          _ = try await forwarder.next { if case .opened = $0 { true } else { nil } }
        }
        #expect(await forwarder.sessionCount == 1)
        try await proxy.inject(.freeze())
        #expect(try await carried.value.hasSuffix("reset\n"))
      }
      await proxy.stop()
      echo.end()
    }
  }

  /// It carries nothing when its host goes silent: what is opened over it next finds that out, and
  /// has time for another one.
  @Test func anIdleSessionThatIsDeadIsReplacedInTime() async throws {
    try await withServer { server in
      let echo = try await Program.started("python3", "-c", Peer.echoAfterEnd)
      let proxy = try await FaultProxy(to: server.port)
      var limits = Forwarder.Limits()
      limits.wait = .seconds(12)
      try await withForwarder(server, at: proxy.port, limits) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: echo.port))
        #expect(try await Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
        try await proxy.inject(.freeze())
        #expect(try await Peer.run(Peer.client, "\(port)", "10").hasPrefix("10 "))
      }
      await proxy.stop()
      echo.end()
    }
  }

  /// Sends so many bytes, and ends with "close" when the next machine has them; it reads nothing.
  private static let sendingTarget = """
    import socket,sys,fcntl,termios,struct,time
    s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8)
    print(s.getsockname()[1],flush=True)
    c,_=s.accept()
    c.sendall(bytes(int(sys.argv[2])))
    while struct.unpack("i",fcntl.ioctl(c,termios.TIOCOUTQ,bytes(4)))[0]: time.sleep(.01)
    if sys.argv[1]=="close": c.close()
    s.accept()
    """

  /// Reads once a file is there, and prints how much came and how it ended; sends all the time with
  /// "sending".
  private static let lateReader = """
    import socket,sys,os,time
    s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
    sends=sys.argv[3]=="sending"
    while not os.path.exists(sys.argv[2]):
        time.sleep(.01)
        try:
            if sends: s.send(b"x")
        except OSError: sends=False
    n=0
    try:
        while True:
            d=s.recv(65536)
            if not d: break
            n+=len(d)
        print(n,"end")
    except ConnectionResetError: print(n,"reset")
    """

  /// Returns when the newest connection has brought so many bytes, or has ended.
  private static func received(_ count: UInt64, by forwarder: Forwarder) async throws {
    _ = try await forwarder.next { if case .opened = $0 { true } else { nil } }
    try await eventually { await forwarder.connections.first?.received ?? count >= count }
  }

  enum Loss {
    case ofLink
    case ofForwarder
    case none
  }

  /// As with ssh: what has come is there for its reader, however late. (A client that goes on
  /// sending to a program that has ended gets an error there.)
  @Test(
    arguments: [
      (.ofLink, "close", "silent"), (.ofLink, "close", "sending"), (.ofLink, "open", "silent"),
      (.ofForwarder, "close", "silent"), (.ofForwarder, "open", "silent"),
      (.none, "close", "silent"), (.none, "close", "sending"),
    ] as [(Loss, String, String)])
  func whatCameBeforeTheEndIsDelivered(
    loss: Loss, target end: String, client: String
  ) async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let target = try await Program.started("python3", "-c", Self.sendingTarget, end, "600000")
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port, Self.soon) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: target.port))
        let file = directory.file("read")
        let reader = Task {
          try await Peer.run(Self.lateReader, "\(port)", file, client)
        }
        try await Self.received(600_000, by: forwarder)
        switch loss {
        case .ofLink: try await proxy.inject(.reset)
        case .ofForwarder: await forwarder.close()
        case .none: break
        }
        if loss == .ofLink { try await eventually { await forwarder.sessionCount == 0 } }
        try Data().write(to: URL(fileURLWithPath: file))
        #expect(try await reader.value.hasPrefix("600000 "))
      }
      await proxy.stop()
      target.end()
    }
  }

  /// A client that reads nothing is there when the link is lost, with or without the end of what
  /// was sent.
  @Test(arguments: [600_000, 60_000_000])
  func aReaderThatTakesNothingIsNotWaitedForAtTheEnd(count: Int) async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let target = try await Program.started(
        "python3", "-c", Self.sendingTarget, "close", "\(count)")
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port, Self.soon) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: target.port))
        let file = directory.file("read")
        let reader = Task { try await Peer.run(Self.lateReader, "\(port)", file, "silent") }
        try await Self.received(600_000, by: forwarder)
        // Until all buffers on the way are full.
        var received: UInt64 = 0
        while let now = await forwarder.connections.first?.received, now > received {
          received = now
          _ = try await Peer.run("import time; time.sleep(0.3)")
        }
        try await proxy.inject(.reset)
        await forwarder.untilIdle()
        await forwarder.close()
        try Data().write(to: URL(fileURLWithPath: file))
        let read = try await reader.value.split(separator: " ")
        #expect(read.first.flatMap { UInt64($0) } ?? 0 >= received, "\(read)")
      }
      await proxy.stop()
      target.end()
    }
  }

  /// Sends its end, and resets its connection once a file is there.
  private static let goingReader = """
    import socket,sys,os,time,struct
    s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
    s.shutdown(socket.SHUT_WR)
    while not os.path.exists(sys.argv[2]): time.sleep(.01)
    s.setsockopt(socket.SOL_SOCKET,socket.SO_LINGER,struct.pack("ii",1,0))
    s.close()
    """

  /// What is kept for a reader goes with it.
  @Test func aReaderThatGoesIsNotWaitedFor() async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let target = try await Program.started("python3", "-c", Self.sendingTarget, "open", "600000")
      let proxy = try await FaultProxy(to: server.port)
      try await withForwarder(server, at: proxy.port, Self.soon) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: target.port))
        let file = directory.file("gone")
        let reader = Task { try await Peer.run(Self.goingReader, "\(port)", file) }
        try await Self.received(600_000, by: forwarder)
        try await proxy.inject(.reset)
        try await eventually { await forwarder.sessionCount == 0 }
        #expect(await forwarder.count == 1)
        try Data().write(to: URL(fileURLWithPath: file))
        _ = try await reader.value
        let isWhole = try await forwarder.next {
          if case .closed(_, _, _, let isWhole) = $0 { isWhole } else { nil }
        }
        #expect(!isWhole)
      }
      await proxy.stop()
      target.end()
    }
  }

  /// Sends its end at once, and reads.
  private static let deafTarget = """
    import socket
    s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8)
    print(s.getsockname()[1],flush=True)
    c,_=s.accept()
    c.shutdown(socket.SHUT_WR)
    while c.recv(65536): pass
    """

  /// Both directions have ended here, and the bytes of one are on their way.
  @Test func whatIsLostWithTheLinkAfterBothEndsIsReported() async throws {
    try await withServer { server in
      let target = try await Program.started("python3", "-c", Self.deafTarget)
      let way = try await Program.started(
        "python3", "-c", Peer.slowWay, "\(server.port)", "16000")
      try await withForwarder(server, at: way.port) { forwarder in
        let port = try await forwarder.listen(forwardRule(to: target.port))
        #expect(try await Peer.run(Peer.client, "\(port)", "200000").hasPrefix("0 "))
        try await eventually { await forwarder.connections.first?.sent ?? 200_000 >= 200_000 }
        way.end()
        let isWhole = try await forwarder.next {
          if case .closed(_, _, _, let isWhole) = $0 { isWhole } else { nil }
        }
        #expect(!isWhole)
      }
      target.end()
    }
  }
}
