package import BridgeErrors
package import BridgeWebSocket

/// Messages on a byte stream: a line each, or each with its length before it (four bytes, most
/// significant first).
package struct MessageFraming: Sendable {
  /// Whether lengths stand before the messages.
  package let isBinary: Bool
  /// Whether a person reads what is written.
  package let isForTerminal: Bool
  /// The longest message, in bytes.
  package static let limit = 16 << 20

  /// Why what comes next is no message; nothing is taken any more.
  package private(set) var fault: AppError?
  private var rest: [UInt8] = []
  private var searched = 0
  private var count = 0

  /// Creates an empty parser.
  package init(isBinary: Bool, isForTerminal: Bool = false) {
    self.isBinary = isBinary
    self.isForTerminal = isForTerminal && !isBinary
  }

  /// Whether the beginning of a message was read and not its end.
  package var isInMessage: Bool { !rest.isEmpty }

  /// The messages that `bytes` complete, up to a fault.
  package mutating func take(_ bytes: [UInt8]) -> [WebSocketMessage] {
    guard fault == nil else { return [] }
    rest += bytes
    var messages: [WebSocketMessage] = []
    var start = 0
    while let end = end(from: start), let message = message(in: rest[start..<end]) {
      messages.append(message)
      start = end
      searched = end
    }
    rest.removeFirst(start)
    searched -= start
    if rest.count > Self.limit + 4 { fail("is longer than \(Self.limit >> 20) MiB") }
    return messages
  }

  /// A last line without its line feed; nil where nothing is left, or a fault.
  package mutating func finish() -> WebSocketMessage? {
    guard fault == nil, !rest.isEmpty else { return nil }
    defer { (rest, searched) = ([], 0) }
    if isBinary { fail("is cut off: the input ended in it") }
    return isBinary ? nil : message(in: rest[...] + [10])
  }

  /// A message as it is written.
  package struct Encoded: Sendable, Equatable {
    /// The bytes for standard output.
    package var bytes: [UInt8]
    /// How many bytes the message itself has.
    package var count: Int
    /// How many lines it takes.
    package var lines = 1
    /// Whether it came as a binary message.
    package var isBinary: Bool
    /// Whether a reader of lines sees what was sent.
    package var isFaithful = true
  }

  /// `message` as it is written. On a terminal it is one line of text, escaped and visible.
  package func encode(_ message: WebSocketMessage) -> Encoded {
    let payload: [UInt8]
    let isText: Bool
    switch message {
    case .text(let text): (payload, isText) = (Array(text.utf8), true)
    case .binary(let bytes): (payload, isText) = (bytes, false)
    }
    var encoded = Encoded(bytes: [], count: payload.count, isBinary: !isText)
    if isBinary {
      let length = UInt32(clamping: payload.count)
      encoded.bytes =
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) } + payload
    } else if isForTerminal {
      // No escape is more than four times as long as what it stands for.
      let text = PeerText.escaped(payload, limit: 4 * payload.count)
      encoded.bytes = Array(text.utf8) + [10]
    } else {
      encoded.bytes = payload + [10]
      encoded.lines += payload.count { $0 == 10 }
      encoded.isFaithful = isText && encoded.lines == 1
    }
    return encoded
  }

  /// The end of the next message; nil where it is incomplete.
  private mutating func end(from start: Int) -> Int? {
    guard isBinary else {
      let end = rest[max(start, searched)...].firstIndex(of: 10)
      if end == nil { searched = rest.count }
      return end.map { $0 + 1 }
    }
    guard rest.count >= start + 4 else { return nil }
    let length = rest[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    guard length <= Self.limit else {
      fail("is longer than \(Self.limit >> 20) MiB")
      return nil
    }
    let end = start + 4 + length
    return rest.count >= end ? end : nil
  }

  /// The message in its frame; nil where it is none.
  private mutating func message(in frame: ArraySlice<UInt8>) -> WebSocketMessage? {
    if isBinary {
      count += 1
      return .binary(Array(frame.dropFirst(4)))
    }
    guard let text = String(validating: frame.dropLast(), as: UTF8.self) else {
      fail("is not UTF-8; with --binary bytes go as they are")
      return nil
    }
    count += 1
    return .text(text)
  }

  private mutating func fail(_ reason: String) {
    let unit = isBinary ? "Message" : "Line"
    fault =
      fault
      ?? .validationError(
        field: "standard input",
        message: "\(unit) \(count + 1) \(reason). What came before was sent.")
  }
}
