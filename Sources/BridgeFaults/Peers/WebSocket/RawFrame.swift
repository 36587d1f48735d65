/// A WebSocket frame as bytes, well-formed or not (RFC 6455, section 5.2). The defaults are a whole
/// unmasked text message, as a server sends it.
public struct RawFrame: Sendable, Equatable {
  /// The FIN bit.
  public var isFinal = true
  /// The three reserved bits, 0…7.
  public var reserved: UInt8 = 0
  /// The opcode, 0…15.
  public var opcode: UInt8 = 1
  /// A masking key; servers must not use one.
  public var mask: [UInt8]?
  /// The length in the header; nil is the true one.
  public var declaredLength: UInt64?
  /// The payload, before masking.
  public var payload: [UInt8]

  /// A text frame.
  public init(_ payload: [UInt8] = []) { self.payload = payload }

  /// A frame of another kind.
  public init(opcode: UInt8, _ payload: [UInt8] = []) {
    self.payload = payload
    self.opcode = opcode
  }

  /// A close frame; without a code its payload is empty (section 5.5.1).
  public static func close(_ code: UInt16?, _ reason: String = "") -> RawFrame {
    guard let code else { return RawFrame(opcode: 8) }
    return RawFrame(opcode: 8, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
  }

  /// The same frame, changed.
  public func with(_ change: (inout RawFrame) -> Void) -> RawFrame {
    var frame = self
    change(&frame)
    return frame
  }

  /// As it travels.
  public var bytes: [UInt8] {
    let first = (isFinal ? 0x80 : 0) | (reserved & 7) << 4 | (opcode & 15)
    let length = declaredLength ?? UInt64(payload.count)
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    var bytes = [first]
    switch length {
    case 0..<126: bytes.append(maskBit | UInt8(length))
    case 126..<65_536: bytes += [maskBit | 126] + Self.bigEndian(length, bytes: 2)
    default: bytes += [maskBit | 127] + Self.bigEndian(length, bytes: 8)
    }
    guard let mask, mask.count == 4 else { return bytes + payload }
    return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset % 4] }
  }

  private static func bigEndian(_ value: UInt64, bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }
}
