/// What a host sends unasked behind the marker of its answer: the proof that it is `bridge-host`
/// that reads what a client sends, and where it keeps sessions. A frame of a type that a client of
/// an earlier version skips; a host of an earlier version sends it without a payload.
public struct Greeting: Sendable, Equatable {
  /// The ids of the directories of sessions: first that of the session which is asked for, or of
  /// new ones. What is started twice is started once where the first of them is the same.
  public let places: [Identifier]

  /// Its type in a header.
  static let type: UInt8 = 129
  private static let most = 4

  /// - Parameter places: at most four.
  public init(_ places: [Identifier]) { self.places = Array(places.prefix(Self.most)) }

  /// Header and payload.
  public var bytes: [UInt8] {
    let payload = places.flatMap(\.bytes)
    var bytes = [Self.type, 0, 0, 0]
    bytes.append(bigEndian: UInt64(payload.count), count: 4)
    return bytes + [UInt8](repeating: 0, count: 8) + payload
  }

  /// Where bytes begin with a greeting: whether all of it is there, and what it says.
  package enum Reading: Equatable {
    case none
    case partial
    case whole(Greeting)
  }

  /// Reads the bytes behind a marker.
  package static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
    guard bytes.first == type else { return .none }
    let header = Array(bytes.prefix(Limits.headerLength))
    guard header.count == Limits.headerLength else { return .partial }
    let length = header.bigEndian(at: 4, count: 4)
    guard length <= UInt64(most * 16), length.isMultiple(of: 16) else { return .none }
    let payload = Array(bytes.dropFirst(Limits.headerLength).prefix(Int(length)))
    guard payload.count == Int(length) else { return .partial }
    let places = stride(from: 0, to: payload.count, by: 16).compactMap {
      Identifier(bytes: Array(payload[$0..<($0 + 16)]))
    }
    return .whole(Greeting(places))
  }
}
