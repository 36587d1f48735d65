/// The pings under way: a pong carries the payload of its ping (RFC 6455, 5.5.3), and a payload
/// names who waits.
struct ProbeTable {
  typealias Answer = @Sendable () -> Void
  private var answers: [Int: Answer] = [:]

  /// The payload that asks for `id`: its number, 8 bytes, most significant first.
  static func payload(_ id: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
  }

  /// Whose answer `payload` is; nil for an unasked pong.
  static func id(_ payload: [UInt8]) -> Int? {
    guard payload.count == 8 else { return nil }
    return payload.reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func insert(_ answer: @escaping Answer, as id: Int) { answers[id] = answer }

  mutating func take(_ id: Int) -> Answer? { answers.removeValue(forKey: id) }

  mutating func removeAll() { answers = [:] }
}
