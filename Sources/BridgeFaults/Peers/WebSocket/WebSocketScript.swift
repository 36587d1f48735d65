/// The script of a WebSocket peer for one connection.
public struct WebSocketScript: Sendable {
  /// How it answers the upgrade request.
  public var upgrade: WebSocketUpgrade
  /// The steps after an upgrade, in order; then it stays as it is.
  public var steps: [WebSocketStep]
  /// Sends every message back.
  public var echoes: Bool
  /// Answers pings with pongs.
  public var answersPings: Bool
  /// Answers a close frame with one, and then closes.
  public var answersClose: Bool

  /// A script; the defaults are a polite and silent server.
  public init(
    upgrade: WebSocketUpgrade = .accept(), _ steps: [WebSocketStep] = [], echoes: Bool = false,
    answersPings: Bool = true, answersClose: Bool = true
  ) {
    self.upgrade = upgrade
    self.steps = steps
    self.echoes = echoes
    self.answersPings = answersPings
    self.answersClose = answersClose
  }

  /// Sends every message back.
  public static let echo = WebSocketScript(echoes: true)

  /// Accepts the request and never answers it.
  public static let stalledHandshake = WebSocketScript(upgrade: .stall)

  /// Refuses the upgrade.
  public static func refusing(
    _ status: Int, _ headers: [String: String] = [:], body: String = ""
  ) -> WebSocketScript {
    WebSocketScript(upgrade: .refuse(status: status, headers: headers, body: body))
  }

  /// Upgrades and closes at once.
  public static func closing(_ code: UInt16?, _ reason: String = "") -> WebSocketScript {
    WebSocketScript([.close(code, reason)])
  }

  /// Upgrades and sends these bytes, which no well-behaved server would.
  public static func sending(_ frames: RawFrame...) -> WebSocketScript {
    WebSocketScript(frames.map { .raw($0.bytes) })
  }
}

/// How a scripted peer answers an upgrade request (RFC 6455, section 4.2.2).
public enum WebSocketUpgrade: Sendable {
  /// 101, with a subprotocol the client may not have asked for, and further headers.
  case accept(subprotocol: String? = nil, headers: [String: String] = [:])
  /// 101 with a Sec-WebSocket-Accept that answers another key.
  case wrongAccept
  /// Another status, then FIN.
  case refuse(status: Int, headers: [String: String], body: String)
  /// Sends these bytes instead of an answer; the socket stays open.
  case raw([UInt8])
  /// No answer.
  case stall
}

/// One thing a scripted WebSocket peer does after the upgrade.
public enum WebSocketStep: Sendable {
  /// Sends a text message.
  case text(String)
  /// Sends a binary message.
  case binary([UInt8])
  /// Sends one message of so many bytes, in pieces as the client takes them.
  case bigMessage(bytes: Int)
  /// Sends the first fragment of a message and goes on with fragments: so many bytes, or without
  /// end.
  case endlessMessage(total: Int? = nil)
  /// Sends a ping.
  case ping([UInt8])
  /// Sends a close frame, and closes once the client has answered it.
  case close(UInt16?, String = "")
  /// Sends bytes.
  case raw([UInt8])
  /// Waits until so many more messages have come.
  case awaitMessages(Int)
  /// Does nothing for a while.
  case wait(Duration)
  /// Reads nothing any more.
  case stopReading
  /// FIN, without a close frame.
  case finish
  /// RST.
  case reset

  /// The same on the level of bytes. A message that came counts as one byte there.
  var lowered: [PeerStep] {
    switch self {
    case .text(let text): [.send(RawFrame(Array(text.utf8)).bytes)]
    case .binary(let bytes): [.send(RawFrame(opcode: 2, bytes).bytes)]
    case .bigMessage(let count): Self.bigMessage(count)
    case .endlessMessage(let total):
      [
        .send(Self.fragment(opcode: 1).bytes),
        .flood((0..<64).flatMap { _ in Self.fragment(opcode: 0).bytes }, total: total),
      ]
    case .ping(let bytes): [.send(RawFrame(opcode: 9, bytes).bytes)]
    case .close(let code, let reason): [.send(RawFrame.close(code, reason).bytes)]
    case .raw(let bytes): [.send(bytes)]
    case .awaitMessages(let count): [.read(count)]
    case .wait(let time): [.wait(time)]
    case .stopReading: [.stopReading]
    case .finish: [.finish]
    case .reset: [.reset]
    }
  }

  private static func bigMessage(_ count: Int) -> [PeerStep] {
    var header = RawFrame(opcode: 2)
    header.declaredLength = UInt64(max(0, count))
    return [.send(header.bytes), .flood([UInt8](repeating: 0x62, count: 1 << 16), total: count)]
  }

  private static func fragment(opcode: UInt8) -> RawFrame {
    var frame = RawFrame(opcode: opcode, [UInt8](repeating: 0x66, count: 1_024))
    frame.isFinal = false
    return frame
  }
}
