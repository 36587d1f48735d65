#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The id that ties together everything that happens for one request: logs, envelopes, frames.
///
/// It is echoed into logs and headers, so only a harmless one is accepted from outside (G-33).
public struct CorrelationID: Sendable, Hashable, CustomStringConvertible {
  /// The header that carries it, in lower case.
  public static let headerName = "x-correlation-id"
  /// The longest id that is accepted, in characters.
  public static let maximumLength = 128

  /// The id of the request that this task works for.
  @TaskLocal public static var current: CorrelationID?

  /// The id as it goes over the wire: `[A-Za-z0-9._-]{1,128}`.
  public let description: String

  /// The id in one header value; nil where it is empty, too long or holds any other character.
  public init?(header: String) {
    let isAllowed = header.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard isAllowed, (1...Self.maximumLength).contains(header.utf8.count) else { return nil }
    description = header
  }

  /// The id made of `uuid`.
  public init(uuid: UUID) {
    description = uuid.uuidString.lowercased()
  }

  /// The id a request brings, else the current task's, else a new one made by `makeUUID`.
  public static func accepted(
    from header: String?, makeUUID: () -> UUID = UUID.init
  ) -> CorrelationID {
    header.flatMap(CorrelationID.init(header:)) ?? current ?? CorrelationID(uuid: makeUUID())
  }

  /// The same for a header that may come several times: more than one value is none.
  public static func accepted(
    from values: [String], makeUUID: () -> UUID = UUID.init
  ) -> CorrelationID {
    accepted(from: values.count == 1 ? values.first : nil, makeUUID: makeUUID)
  }
}
