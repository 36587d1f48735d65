/// The close codes that this side sends or tells apart (RFC 6455, 7.4.1).
enum CloseCode {
  static let normal = 1000
  static let protocolError = 1002
  /// Stands for the code of a frame that has none.
  static let none = 1005
  static let invalidPayload = 1007
  static let messageTooBig = 1009
}

/// The payload of a close frame (RFC 6455, 5.5.1 and 7.4).
struct CloseFrame: Equatable {
  /// Nil where the frame was empty.
  var code: Int?
  var reason: String

  /// Reads `payload`; nil when it is none.
  init?(payload: [UInt8]) {
    guard payload.count != 1 else { return nil }
    guard payload.count >= 2 else {
      (code, reason) = (nil, "")
      return
    }
    let number = Int(payload[0]) << 8 | Int(payload[1])
    guard Self.mayBeReceived(number) else { return nil }
    var text = UTF8Validator()
    let rest = payload.dropFirst(2)
    guard text.take(rest), text.isComplete else { return nil }
    (code, reason) = (number, String(decoding: rest, as: UTF8.self))
  }

  /// Registered for the wire (RFC 6455, 7.4.1; IANA's registry) or private.
  private static func mayBeReceived(_ code: Int) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// A code that we may send (RFC 6455, 7.4.1): not those that stand for something else.
  static func maySend(_ code: Int) -> Bool {
    switch code {
    case 1000...1003, 1007...1011, 3000...4999: true
    default: false
    }
  }

  /// The payload that says `code` and `reason`.
  static func payload(code: Int, reason: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)] + reason
  }

  /// A reason that fits beside its code (125 bytes in all), cut between scalars.
  static func fit(_ reason: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in reason.unicodeScalars {
      let encoded = Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      guard bytes.count + encoded.count <= 123 else { break }
      bytes += encoded
    }
    return bytes
  }
}
