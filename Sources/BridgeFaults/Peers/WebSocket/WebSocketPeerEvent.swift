/// An event of a connection to a scripted WebSocket peer, with its monotonic time.
public struct WebSocketPeerEvent: Sendable, Equatable {
  /// Time since the peer was started, on the monotonic clock.
  public var at: Duration
  /// The connection's number, counted from 1 in order of acceptance.
  public var connection: Int
  /// The kind of the event.
  public var kind: Kind

  /// The kinds of events, past tense.
  public enum Kind: Sendable, Equatable {
    /// A client was accepted.
    case accepted
    /// It asked for an upgrade.
    case requested(WebSocketRequest)
    /// The upgrade was granted.
    case upgraded
    /// It sent a text message.
    case text(String)
    /// It sent a binary message of so many bytes.
    case binary(count: Int)
    /// It sent a ping.
    case ping([UInt8])
    /// It sent a pong.
    case pong([UInt8])
    /// It sent a close frame; nil when that was empty.
    case close(code: UInt16?, reason: String)
    /// It sent what is no frame, or no request.
    case malformed
    /// Every step was taken.
    case scriptDone
    /// It sent its FIN.
    case clientFinished
    /// The connection is closed on both sides, or was reset by one.
    case closed
  }
}

/// A client's upgrade request.
public struct WebSocketRequest: Sendable, Equatable {
  /// The request target: path and query.
  public var target: String
  /// Header fields by lower-case name; of a repeated one the values are joined by ", ".
  public var headers: [String: String]

  /// Reads the head of a request without its empty line; nil when it is none.
  init?(head: String) {
    // "\r\n" is one Character, and so is "\n".
    let lines = head.split(whereSeparator: \.isNewline)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[0] == "GET" else { return nil }
    target = String(words[1])
    headers = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      let value = String(parts[1].drop { $0 == " " })
      headers.merge([parts[0].lowercased(): value]) { "\($0), \($1)" }
    }
  }
}
