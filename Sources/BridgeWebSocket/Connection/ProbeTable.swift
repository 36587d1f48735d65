/// The pings under way: a pong carries the payload of its ping (RFC 6455, 5.5.3), and a payload
/// names who waits. Of several pings a peer may answer the last one only, for all of them.
package struct ProbeTable {
  /// Tells who asked.
  package typealias Answer = @Sendable () -> Void
  private var answers: [Int: Answer] = [:]

  /// Nobody waits.
  package init() {}

  /// The payload that asks for `id`: its number, 8 bytes, most significant first.
  package static func payload(_ id: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
  }

  /// Whose answer `payload` is; nil for an unasked pong.
  package static func id(_ payload: [UInt8]) -> Int? {
    guard payload.count == 8 else { return nil }
    return payload.reduce(0) { $0 << 8 | Int($1) }
  }

  /// Somebody waits for the pong of ping `id`.
  package mutating func insert(_ answer: @escaping Answer, as id: Int) { answers[id] = answer }

  /// Takes out who waits for `id`.
  package mutating func take(_ id: Int) -> Answer? { answers.removeValue(forKey: id) }

  /// Whom a pong for `id` answers, oldest first: nobody when nobody waits for it.
  package func answered(by id: Int) -> [Int] {
    answers[id] == nil ? [] : answers.keys.filter { $0 <= id }.sorted()
  }

  /// Nobody waits any more.
  package mutating func removeAll() { answers = [:] }
}
