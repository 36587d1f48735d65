/// Writes keys and values: key length (1), key, value length (4), value.
package struct FieldWriter {
  /// What was written.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func add(_ name: String, bytes value: [UInt8]) {
    bytes.append(UInt8(truncatingIfNeeded: name.utf8.count))
    bytes.append(contentsOf: name.utf8)
    bytes.append(bigEndian: UInt64(value.count), count: 4)
    bytes.append(contentsOf: value)
  }

  package mutating func add(_ name: String, number: UInt64?) {
    guard let number else { return }
    var value: [UInt8] = []
    value.append(bigEndian: number, count: 8)
    add(name, bytes: value)
  }

  package mutating func add(_ name: String, text: String?) {
    guard let text else { return }
    add(name, bytes: Array(text.utf8))
  }

  package mutating func add(_ name: String, bytes value: [UInt8]?) {
    if let value { add(name, bytes: value) }
  }
}

/// Reads keys and values. Unknown keys are skipped, so that a later version may add some.
package struct FieldReader {
  private var values: [String: [[UInt8]]] = [:]

  package init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    var position = payload.startIndex
    var count = 0
    while position < payload.endIndex {
      count += 1
      guard count <= Limits.fields else { throw .malformedFields("too many keys") }
      let name = try Self.part(of: payload, at: &position, prefix: 1)
      guard !name.isEmpty, name.allSatisfy(Self.isNameByte) else {
        throw .malformedFields("a key is not made of a to z and hyphens")
      }
      let value = try Self.part(of: payload, at: &position, prefix: 4)
      values[String(decoding: name, as: UTF8.self), default: []].append(Array(value))
    }
  }

  /// All values of a key that may be there many times.
  package func list(_ name: String) -> [[UInt8]] { values[name] ?? [] }

  /// The value of a key that may be there once.
  package func bytes(_ name: String) throws(ProtocolError) -> [UInt8]? {
    let found = list(name)
    guard found.count <= 1 else { throw .malformedFields(name) }
    return found.first
  }

  /// A number of 8 bytes.
  package func number(_ name: String) throws(ProtocolError) -> UInt64? {
    guard let value = try bytes(name) else { return nil }
    guard value.count == 8 else { throw .malformedFields(name) }
    return value.bigEndian(at: 0, count: 8)
  }

  /// A number of 8 bytes below 2^63.
  package func offset(_ name: String) throws(ProtocolError) -> UInt64? {
    guard let value = try number(name) else { return nil }
    guard value < Limits.offset else { throw .malformedFields(name) }
    return value
  }

  /// A text; bytes that are not UTF-8 are replaced.
  package func text(_ name: String) throws(ProtocolError) -> String? {
    try bytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The value of a key that must be there.
  package func required<Value>(_ name: String, _ value: Value?) throws(ProtocolError) -> Value {
    guard let value else { throw .malformedFields(name) }
    return value
  }

  private static func part(
    of payload: ArraySlice<UInt8>, at position: inout Int, prefix: Int
  ) throws(ProtocolError) -> ArraySlice<UInt8> {
    guard payload.endIndex - position >= prefix else { throw .malformedFields("cut off") }
    let length = Int(payload.bigEndian(at: position, count: prefix))
    position += prefix
    guard payload.endIndex - position >= length else { throw .malformedFields("cut off") }
    defer { position += length }
    return payload[position..<(position + length)]
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
  }
}
