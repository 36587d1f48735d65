/// A whole message, as RFC 6455 (5.6) knows them.
public enum WebSocketMessage: Sendable, Hashable {
  /// Valid UTF-8.
  case text(String)
  /// Anything.
  case binary([UInt8])

  /// Its size on the wire, in bytes, without frame headers.
  public var count: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }
}
