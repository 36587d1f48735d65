/// A violation of the session protocol by the peer: the attachment ends, the session goes on.
public enum ProtocolError: Error, Sendable, Equatable {
  /// A frame type below 128 that version 1 does not define.
  case unknownFrame(type: UInt8)
  /// The reserved bytes of a header are not zero.
  case reservedNotZero(type: UInt8)
  /// A payload longer than its frame type allows.
  case frameTooLong(type: UInt8, length: UInt32)
  /// A payload whose length does not fit what it must hold.
  case wrongLength(type: UInt8, length: UInt32)
  /// A stream number that the frame type does not have.
  case wrongStream(type: UInt8, stream: UInt8)
  /// An offset, or the end of what it begins, at or above 2^63.
  case offsetTooLarge(type: UInt8, offset: UInt64)
  /// Keys and values that cannot be read; the text names the key or the fault.
  case malformedFields(String)
  /// A payload that names something version 1 does not define.
  case malformedPayload(type: UInt8)
  /// A frame that the state of the receiver does not allow.
  case unexpectedFrame(type: UInt8)
  /// Bytes or control numbers were skipped.
  case hole(expected: UInt64, found: UInt64)
  /// More unacknowledged bytes than the window allows.
  case windowExceeded(limit: UInt64)
  /// An acknowledgement of what was never sent, or one that moves backwards.
  case wrongAcknowledgement(through: UInt64, sent: UInt64)
  /// A commit of what was not acknowledged.
  case wrongCommit(committed: UInt64, acknowledged: UInt64)
  /// The peer answered for another session.
  case wrongSession
  /// The peer answered for another run of the session: its offsets count another stream.
  case wrongEpoch
  /// The peer has fewer bytes than were received from it before.
  case offsetsWentBack(received: UInt64, newest: UInt64)
  /// The peer chose a protocol version that was not offered.
  case wrongVersion(UInt8)
  /// Input or a control from an attachment that may only read.
  case notWriter
}

extension ProtocolError {
  /// Whether the header that broke the rule is text: a frame, also of a later version, has zeros
  /// where text has none.
  package var isText: Bool {
    if case .reservedNotZero(let type) = self { type >= 0x20 || type == 0x0A } else { false }
  }
}

extension ProtocolError: CustomStringConvertible {
  /// A sentence for a log line or for a refusal.
  public var description: String {
    switch self {
    case .unknownFrame(let type): "unknown frame type \(type)"
    case .reservedNotZero(let type): "reserved bytes of frame type \(type) are not zero"
    case .frameTooLong(let type, let length): "frame type \(type) is too long: \(length) bytes"
    case .wrongLength(let type, let length): "frame type \(type) has a wrong length: \(length)"
    case .wrongStream(let type, let stream): "frame type \(type) has no stream \(stream)"
    case .offsetTooLarge(let type, let offset):
      "offset \(offset) of frame type \(type) is too large"
    case .malformedFields(let detail): "malformed fields: \(detail)"
    case .malformedPayload(let type): "malformed payload of frame type \(type)"
    case .unexpectedFrame(let type): "frame type \(type) is not allowed here"
    case .hole(let expected, let found): "expected \(expected), found \(found)"
    case .windowExceeded(let limit): "more than \(limit) unacknowledged bytes"
    case .wrongAcknowledgement(let through, let sent): "acknowledged \(through) of \(sent)"
    case .wrongCommit(let committed, let acknowledged):
      "committed \(committed), acknowledged only \(acknowledged)"
    case .wrongSession: "answer for another session"
    case .wrongEpoch: "answer for another run of the session"
    case .offsetsWentBack(let received, let newest):
      "received \(received) bytes before, now only \(newest) exist"
    case .wrongVersion(let version): "protocol version \(version) was not offered"
    case .notWriter: "only the writer may send input and controls"
    }
  }
}
