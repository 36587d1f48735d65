import BridgeSSH

// The data types of PROTOCOL.mux are those of SSH.
extension WireReader {
  /// A `string` of UTF-8 text; nil also for what is none.
  mutating func text() -> String? { string().flatMap { String(validating: $0, as: UTF8.self) } }
}

extension WireWriter {
  /// 32-bit numbers, in order.
  mutating func uint32s(_ values: UInt32...) {
    for value in values { uint32(value) }
  }

  /// What was written, behind its length.
  var packet: [UInt8] {
    var packet = WireWriter()
    packet.string(bytes)
    return packet.bytes
  }
}
