import BridgeSessionProtocol

/// One frame of each type with every field set, and the forms that differ in layout.
enum Sample {
  static let session = SessionID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
  static let client = ClientID(high: 0xc0ff_ee00_c0ff_ee00, low: 1)
  static let other = ClientID(high: 0xc0ff_ee00_c0ff_ee00, low: 2)
  static let epoch: UInt64 = 0x0102_0304_0506_0708

  static var hello: Hello {
    var hello = Hello(session: session, client: client)
    hello.takes = true
    hello.replay = .screen
    hello.resume = ResumePoint(epoch: epoch, received: 1000)
    hello.acknowledged = 900
    hello.committed = 800
    hello.lease = 2
    hello.window = 4 << 20
    hello.size = WindowSize(columns: 80, rows: 24, width: 640, height: 384)
    hello.catchesUp = true
    hello.followsSize = true
    hello.environment = [Array("LANG=C".utf8)]
    return hello
  }

  static var welcome: Welcome {
    var welcome = Welcome(session: session, epoch: epoch)
    welcome.hasEnded = true
    welcome.kind = .terminal
    welcome.role = .viewer
    welcome.writer = other
    welcome.oldest = 10
    welcome.newest = 4000
    welcome.resume = 1000
    welcome.modes = [27, 91, 63, 49, 104]
    welcome.size = WindowSize(columns: 132, rows: 50)
    welcome.inputTaken = 5
    welcome.inputAccepted = 7
    welcome.lastControl = 3
    welcome.lease = 2
    welcome.ownAccepted = 4
    welcome.inputEnd = 7
    welcome.inputIsClosed = true
    welcome.survivesLogout = "yes"
    return welcome
  }

  /// A client that was welcomed to a session of this kind, and its hello.
  static func attached(
    kind: ProgramKind = .terminal, _ adjust: (inout ClientSession.Configuration) -> Void
  ) throws -> (client: ClientSession, hello: Hello) {
    var configuration = ClientSession.Configuration(session: session, client: client)
    adjust(&configuration)
    var client = ClientSession(configuration)
    client.connect()
    guard case .hello(let hello)? = client.nextFrame(at: 0) else {
      throw ProtocolError.wrongSession
    }
    var welcome = Welcome(session: session, epoch: epoch)
    welcome.kind = kind
    _ = try client.receive(.welcome(welcome), at: 0)
    return (client, hello)
  }

  static var spec: SessionSpec {
    var spec = SessionSpec(session: session)
    spec.command = Array("make test".utf8)
    spec.terminal = Array("xterm-256color".utf8)
    spec.size = WindowSize(columns: 132, rows: 50)
    spec.modes = [3, 0, 0, 0, 127]
    spec.environment = [Array("LANG=C".utf8), Array("A=".utf8)]
    spec.name = Array("build".utf8)
    spec.cap = 1 << 20
    spec.whenFull = .wait
    return spec
  }

  static var status: SessionStatus {
    var status = SessionStatus(session: session, state: .ended)
    status.kind = .terminal
    status.name = Array("build".utf8)
    status.command = Array("make test".utf8)
    status.process = 4711
    status.end = .signaled(number: 9, dumpedCore: true)
    status.oldest = 1
    status.newest = 2
    status.committed = 2
    status.attached = 1
    status.startedAt = 1_700_000_000
    status.endedAt = 1_700_000_060
    status.survivesLogout = "yes"
    return status
  }

  static var frames: [Frame] {
    [
      .hello(hello), .hello(Hello(session: session, client: client)), .welcome(welcome),
      .refused(Refusal(.replaced, "Client took the session over.")),
      .output(offset: 65536, stream: .standardError, bytes: Array("make: ok\n".utf8)),
      .output(offset: 0, stream: .terminal, bytes: [27, 91, 72]),
      .gap(from: 1_048_576, to: 4_194_304), .input(offset: 42, bytes: Array("yes\n".utf8)),
      .acknowledge(through: 65545, settled: 65536),
      .control(number: 1, .resize(WindowSize(columns: 80, rows: 24, width: 640, height: 384))),
      .control(number: 2, .signal(.interrupt)), .control(number: 3, .endInput(at: 46)),
      .control(number: 4, .detach), .control(number: 5, .close),
      .ended(at: 65545, .exited(status: 2)),
      .ended(at: 65545, .signaled(number: 11, dumpedCore: true)),
      .ended(at: 65545, .unknownKeeperDied), .ended(at: 65545, .unknownRebooted),
      .ping(UInt64.max), .pong(0x1122_3344_5566_7788), .start(spec),
      .start(SessionSpec(session: session)), .status(status),
      .notice(Notice(.degraded, "The disk is full.")),
      .screen(to: 4_194_304, bytes: Array("\u{1B}[H\u{1B}[J$ ".utf8)),
      .size(WindowSize(columns: 45, rows: 20)),
    ]
  }
}

extension FrameParser {
  /// All frames that are complete.
  mutating func drain() throws(ProtocolError) -> [Frame] {
    var frames: [Frame] = []
    while let frame = try next() { frames.append(frame) }
    return frames
  }
}
