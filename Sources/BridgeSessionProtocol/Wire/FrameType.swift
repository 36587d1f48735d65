/// The first byte of a frame.
public enum FrameType: UInt8, Sendable, CaseIterable {
  /// The client opens or resumes a session.
  case hello = 1
  /// The host accepts, with the offsets of both ends.
  case welcome = 2
  /// The host refuses, with a reason.
  case refused = 3
  /// Bytes of the program's output.
  case output = 4
  /// Output that is no longer in the journal.
  case gap = 5
  /// Bytes for the program's input.
  case input = 6
  /// The offset up to which bytes were received.
  case acknowledge = 7
  /// A signal, a terminal size, or the end of input.
  case control = 8
  /// The program ended.
  case ended = 9
  /// Requests a pong.
  case ping = 10
  /// Answers a ping.
  case pong = 11
  /// The program to start, in a new session.
  case start = 12
  /// The state of a session.
  case status = 13
  /// From 128 on a receiver that does not know a type skips it.
  case notice = 128
  /// What a terminal shows now, in place of output that is left out; for clients that want it.
  case screen = 130
  /// The size of the terminal from here on; for clients that want it.
  case size = 131

  /// The lengths a payload of this type may have.
  public var lengths: ClosedRange<UInt32> {
    switch self {
    case .hello, .welcome, .status, .screen: 0...Limits.handshake
    case .start: 0...Limits.start
    case .refused, .notice: 2...(2 + Limits.text)
    case .output, .input: 1...Limits.payload
    case .gap, .acknowledge, .ended, .size: 8...8
    case .control: 1...32
    case .ping, .pong: 0...0
    }
  }

  /// True for types whose offset counts bytes; of the others it must be zero, but for the numbers
  /// of control and the free value of ping and pong.
  var hasOffset: Bool {
    switch self {
    case .output, .gap, .input, .acknowledge, .ended, .control, .ping, .pong, .screen: true
    case .hello, .welcome, .refused, .start, .status, .notice, .size: false
    }
  }
}

/// The stream that output belongs to.
public enum ProgramStream: UInt8, Sendable, CaseIterable {
  /// Standard output.
  case standardOutput = 1
  /// Standard error.
  case standardError = 2
  /// The program's terminal.
  case terminal = 3
}

/// The 16 bytes before each payload, verified.
///
/// Network byte order: type (1), stream (1), reserved (2, zero), length (4), offset (8).
public struct FrameHeader: Sendable, Equatable {
  /// What the payload is; nil for a type from 128 on that this version does not know.
  public var type: FrameType?
  /// The stream of an output frame.
  public var stream: ProgramStream?
  /// The length of the payload.
  public var length: UInt32
  /// The first byte's offset, a control's number, or what a ping carries.
  public var offset: UInt64

  /// Reads a header from 16 bytes.
  ///
  /// - Throws: the first rule that it breaks, before one byte of the payload is stored.
  public init(_ bytes: ArraySlice<UInt8>) throws(ProtocolError) {
    let base = bytes.startIndex
    let (code, streamCode) = (bytes[base], bytes[base + 1])
    length = UInt32(truncatingIfNeeded: bytes.bigEndian(at: base + 4, count: 4))
    offset = bytes.bigEndian(at: base + 8, count: 8)
    type = FrameType(rawValue: code)
    guard bytes[base + 2] == 0, bytes[base + 3] == 0 else { throw .reservedNotZero(type: code) }
    guard let type else {
      guard code >= 128 else { throw .unknownFrame(type: code) }
      guard length <= Limits.payload else { throw .frameTooLong(type: code, length: length) }
      return
    }
    try check(type, code: code, streamCode: streamCode)
  }

  private mutating func check(
    _ type: FrameType, code: UInt8, streamCode: UInt8
  ) throws(ProtocolError) {
    guard length <= type.lengths.upperBound else {
      throw .frameTooLong(type: code, length: length)
    }
    guard length >= type.lengths.lowerBound else {
      throw .wrongLength(type: code, length: length)
    }
    if type == .output {
      guard let known = ProgramStream(rawValue: streamCode) else {
        throw .wrongStream(type: code, stream: streamCode)
      }
      stream = known
    } else if streamCode != 0 {
      throw .wrongStream(type: code, stream: streamCode)
    }
    if type == .ping || type == .pong { return }
    let end = type == .output || type == .input ? offset &+ UInt64(length) : offset
    guard offset < Limits.offset, end < Limits.offset, type.hasOffset || offset == 0 else {
      throw .offsetTooLarge(type: code, offset: offset)
    }
  }
}

extension ArraySlice<UInt8> {
  /// The number in `count` bytes at `index`, most significant byte first.
  func bigEndian(at index: Int, count: Int) -> UInt64 {
    var value: UInt64 = 0
    var position = index
    while position < index + count {
      value = value << 8 | UInt64(self[position])
      position += 1
    }
    return value
  }
}

extension [UInt8] {
  /// The number in `count` bytes at `index`, most significant byte first.
  func bigEndian(at index: Int, count: Int) -> UInt64 {
    self[...].bigEndian(at: index, count: count)
  }

  /// Appends the low `count` bytes of `value`, most significant byte first.
  mutating func append(bigEndian value: UInt64, count: Int) {
    var shift = UInt64(count * 8)
    while shift > 0 {
      shift -= 8
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}
