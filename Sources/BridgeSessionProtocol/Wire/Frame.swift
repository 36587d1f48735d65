/// One unit of the session protocol, read and verified.
public enum Frame: Sendable, Equatable {
  /// Client: its id, and the offsets it has received.
  case hello(Hello)
  /// Host: what is there. Only then bytes flow.
  case welcome(Welcome)
  /// Host: why the attachment ends.
  case refused(Refusal)
  /// Host: bytes the program printed.
  case output(offset: UInt64, stream: ProgramStream, bytes: [UInt8])
  /// Host: output from `from` to below `to` is no longer kept.
  case gap(from: UInt64, to: UInt64)
  /// Client: bytes for the program's standard input or terminal.
  case input(offset: UInt64, bytes: [UInt8])
  /// All below `through` was received (client) or written to the program (host). `settled` is the
  /// committed output offset (client) or the number of the last control done (host).
  case acknowledge(through: UInt64, settled: UInt64)
  /// Client: an operation that is done once.
  case control(number: UInt64, Control)
  /// Host: the program ended, and its output with it.
  case ended(at: UInt64, ProgramEnd)
  /// Either: requests a pong with the same value.
  case ping(UInt64)
  /// Either: the answer to a ping.
  case pong(UInt64)
  /// Client: the program to start, before hello where both come in one exec.
  case start(SessionSpec)
  /// Host: one session as the answer to start, list, wait and kill.
  case status(SessionStatus)
  /// Host: a condition that ends nothing.
  case notice(Notice)
  /// Host: the sequences that draw the screen as it is after the output below `to`, in place of the
  /// output that was not sent.
  case screen(to: UInt64, bytes: [UInt8])
  /// Host: the size of the terminal for the output that follows.
  case size(WindowSize)

  /// The first byte of this frame.
  public var type: FrameType {
    switch self {
    case .hello: .hello
    case .welcome: .welcome
    case .refused: .refused
    case .output: .output
    case .gap: .gap
    case .input: .input
    case .acknowledge: .acknowledge
    case .control: .control
    case .ended: .ended
    case .ping: .ping
    case .pong: .pong
    case .start: .start
    case .status: .status
    case .notice: .notice
    case .screen: .screen
    case .size: .size
    }
  }

  /// Reads a payload whose header was verified.
  init(_ header: FrameHeader, type: FrameType, payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let start = payload.startIndex
    switch type {
    case .hello: self = .hello(try Hello(payload))
    case .welcome: self = .welcome(try Welcome(payload))
    case .refused: self = .refused(Refusal(payload))
    case .output:
      self = .output(
        offset: header.offset, stream: header.stream ?? .standardOutput, bytes: Array(payload))
    case .gap:
      let to = payload.bigEndian(at: start, count: 8)
      guard to > header.offset, to < Limits.offset else {
        throw .offsetTooLarge(type: type.rawValue, offset: to)
      }
      self = .gap(from: header.offset, to: to)
    case .input: self = .input(offset: header.offset, bytes: Array(payload))
    case .acknowledge:
      let settled = payload.bigEndian(at: start, count: 8)
      guard settled < Limits.offset else {
        throw .offsetTooLarge(type: type.rawValue, offset: settled)
      }
      self = .acknowledge(through: header.offset, settled: settled)
    case .control: self = .control(number: header.offset, try Control(payload))
    case .ended: self = .ended(at: header.offset, try ProgramEnd(payload))
    case .ping: self = .ping(header.offset)
    case .pong: self = .pong(header.offset)
    case .start: self = .start(try SessionSpec(payload))
    case .status: self = .status(try SessionStatus(payload))
    case .notice: self = .notice(Notice(payload))
    case .screen: self = .screen(to: header.offset, bytes: Array(payload))
    case .size:
      guard let size = WindowSize(bytes: payload) else {
        throw .wrongLength(type: type.rawValue, length: header.length)
      }
      self = .size(size)
    }
  }

  /// Header and payload.
  public var encoded: [UInt8] {
    switch self {
    case .hello(let hello): return Self.encode(.hello, hello.payload)
    case .welcome(let welcome): return Self.encode(.welcome, welcome.payload)
    case .refused(let refusal): return Self.encode(.refused, refusal.payload)
    case .output(let offset, let stream, let bytes):
      return Self.header(.output, stream: stream, length: bytes.count, offset: offset) + bytes
    case .gap(let from, let to): return Self.encode(.gap, offset: from, number: to)
    case .input(let offset, let bytes): return Self.encode(.input, offset: offset, bytes)
    case .acknowledge(let through, let settled):
      return Self.encode(.acknowledge, offset: through, number: settled)
    case .control(let number, let control):
      return Self.encode(.control, offset: number, control.payload)
    case .ended(let offset, let end): return Self.encode(.ended, offset: offset, end.payload)
    case .ping(let value): return Self.encode(.ping, offset: value, [])
    case .pong(let value): return Self.encode(.pong, offset: value, [])
    case .start(let spec): return Self.encode(.start, spec.payload)
    case .status(let status): return Self.encode(.status, status.payload)
    case .notice(let notice): return Self.encode(.notice, notice.payload)
    case .screen(let to, let bytes): return Self.encode(.screen, offset: to, bytes)
    case .size(let size): return Self.encode(.size, size.bytes)
    }
  }

  /// The 16 bytes before a payload of `length` bytes.
  public static func header(
    _ type: FrameType, stream: ProgramStream? = nil, length: Int, offset: UInt64
  ) -> [UInt8] {
    var bytes: [UInt8] = [type.rawValue, stream?.rawValue ?? 0, 0, 0]
    bytes.reserveCapacity(Limits.headerLength + length)
    bytes.append(bigEndian: UInt64(length), count: 4)
    bytes.append(bigEndian: offset, count: 8)
    return bytes
  }

  private static func encode(
    _ type: FrameType, offset: UInt64 = 0, _ payload: [UInt8]
  ) -> [UInt8] {
    header(type, length: payload.count, offset: offset) + payload
  }

  private static func encode(_ type: FrameType, offset: UInt64, number: UInt64) -> [UInt8] {
    var bytes = header(type, length: 8, offset: offset)
    bytes.append(bigEndian: number, count: 8)
    return bytes
  }
}
