import BridgeErrors

/// The lists in a peer's SSH_MSG_KEXINIT (RFC 4253, 7.1).
package struct KexInit: Sendable, Equatable {
  /// The message's number.
  package static let message: UInt8 = 20
  /// The largest packet that is read: what every implementation must take (RFC 4253, 6.1).
  package static let limit = 35_000

  private let lists: [[String]]

  /// The lists in `payload`, a packet without length and padding; nil when it is no such message.
  package init?(payload: [UInt8]) {
    guard payload.count <= Self.limit else { return nil }
    var reader = WireReader(payload)
    guard reader.byte() == Self.message, reader.take(16) != nil else { return nil }
    var lists: [[String]] = []
    // Eight lists of algorithms, then two of languages.
    for _ in 0..<10 {
      guard let list = reader.nameList() else { return nil }
      lists.append(list)
    }
    guard reader.byte() != nil, reader.uint32() != nil else { return nil }
    self.lists = lists
  }

  /// The peer's names for `kind`, best first, raw.
  package subscript(kind: AlgorithmKind) -> [String] {
    lists[kind.rawValue]
  }
}

/// The first packets of a server, found in what it sent so far; they are not encrypted.
package enum ServerTranscript: Sendable, Equatable {
  /// Neither a KEXINIT nor anything else that ends the search yet.
  case needMore
  /// The server's lists.
  case kexInit(KexInit)
  /// The server hung up with SSH_MSG_DISCONNECT; its text is escaped and bounded.
  case disconnected(reason: Int, text: String)
  /// This is not what a server sends before its lists.
  case malformed

  /// How many bytes from the start are worth keeping.
  package static let limit = ServerGreeting.versionLimit + 65_536

  /// Parses `bytes`, everything the server has sent from the start.
  package init(_ bytes: [UInt8]) {
    var greeting = ServerGreeting()
    switch greeting.feed(bytes) {
    case .needMore: self = .needMore
    case .version: self = Self.packets(WireReader(Array(bytes[greeting.consumed...])))
    case .ssh1, .notSSH, .tooLong, .flood: self = .malformed
    }
  }

  /// At most 16 packets, of which all but the last are IGNORE or DEBUG (RFC 4253, 11).
  private static func packets(_ reader: WireReader) -> ServerTranscript {
    var reader = reader
    for _ in 0..<16 {
      guard let length = reader.uint32() else { return .needMore }
      guard (5...KexInit.limit).contains(Int(length)) else { return .malformed }
      guard let packet = reader.take(Int(length)) else { return .needMore }
      let padding = Int(packet[0])
      guard padding + 1 < packet.count else { return .malformed }
      let payload = Array(packet[1..<packet.count - padding])
      switch payload[0] {
      case 2, 4: continue
      case 1: return disconnect(payload)
      case KexInit.message: return KexInit(payload: payload).map { .kexInit($0) } ?? .malformed
      default: return .malformed
      }
    }
    return .malformed
  }

  private static func disconnect(_ payload: [UInt8]) -> ServerTranscript {
    var reader = WireReader(payload)
    guard reader.byte() != nil, let reason = reader.uint32(), let text = reader.string() else {
      return .malformed
    }
    return .disconnected(reason: Int(reason), text: PeerText.escaped(text))
  }
}
