/// The pings under way: a pong carries the payload of its ping (RFC 6455, 5.5.3), and a payload
/// names its probe. Of several pings a peer may answer the last one only, for all of them: that is
/// the order in which they were written, not the one in which they were asked for.
package struct ProbeTable {
  /// Resumes a caller.
  package typealias Answer = @Sendable () -> Void

  private struct Probe {
    let answer: Answer
    /// Its place among the pings that were written; nil before that.
    var place: Int?
  }

  private var probes: [Int: Probe] = [:]
  private var written = 0

  /// An empty table.
  package init() {}

  /// The payload that asks for `id`: its number, 8 bytes, most significant first.
  package static func payload(_ id: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
  }

  /// The probe that `payload` answers; nil for an unasked pong.
  package static func id(_ payload: [UInt8]) -> Int? {
    guard payload.count == 8 else { return nil }
    return payload.reduce(0) { $0 << 8 | Int($1) }
  }

  /// Adds a caller that waits for the pong of ping `id`.
  package mutating func insert(_ answer: @escaping Answer, as id: Int) {
    probes[id] = Probe(answer: answer)
  }

  /// Records that ping `id` was written.
  package mutating func wrote(_ id: Int) {
    written += 1
    probes[id]?.place = written
  }

  /// Removes the caller that waits for `id`.
  package mutating func take(_ id: Int) -> Answer? { probes.removeValue(forKey: id)?.answer }

  /// The probes that a pong for `id` answers, in the order of their pings; none where no caller
  /// waits for `id`.
  package func answered(by id: Int) -> [Int] {
    guard let last = probes[id]?.place else { return [] }
    let answered = probes.compactMap { id, probe in
      probe.place.flatMap { $0 <= last ? (id: id, place: $0) : nil }
    }
    return answered.sorted { $0.place < $1.place }.map(\.id)
  }

  /// Removes all callers.
  package mutating func removeAll() { probes = [:] }
}
