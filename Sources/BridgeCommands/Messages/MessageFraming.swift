package import BridgeErrors
package import BridgeWebSocket

/// Messages on a byte stream: a line each, or each with its length before it (four bytes, most
/// significant first).
package struct MessageFraming: Sendable {
  /// Whether lengths stand before the messages.
  package let isBinary: Bool
  /// The longest message, in bytes.
  package static let limit = 16 << 20

  private var rest: [UInt8] = []
  private var searched = 0

  /// Nothing read yet.
  package init(isBinary: Bool) { self.isBinary = isBinary }

  /// The messages that `bytes` complete.
  ///
  /// - Throws: `validationError` for one over 16 MiB.
  package mutating func take(_ bytes: [UInt8]) throws(AppError) -> [WebSocketMessage] {
    rest += bytes
    var messages: [WebSocketMessage] = []
    var start = 0
    while let (message, end) = try next(from: start) {
      messages.append(message)
      start = end
      searched = end
    }
    rest.removeFirst(start)
    searched -= start
    guard rest.count <= Self.limit + 4 else { throw Self.tooLong }
    return messages
  }

  /// A last line without its line feed; nil where nothing is left, or not all of a message.
  package mutating func finish() -> WebSocketMessage? {
    defer { (rest, searched) = ([], 0) }
    return isBinary || rest.isEmpty ? nil : .text(String(decoding: rest, as: UTF8.self))
  }

  /// `message` as it is written; `isFaithful` where nothing of it was lost.
  package func encode(_ message: WebSocketMessage) -> (bytes: [UInt8], isFaithful: Bool) {
    let payload: [UInt8]
    let isText: Bool
    switch message {
    case .text(let text): (payload, isText) = (Array(text.utf8), true)
    case .binary(let bytes): (payload, isText) = (bytes, false)
    }
    guard isBinary else { return (payload + [10], isText && !payload.contains(10)) }
    let length = UInt32(clamping: payload.count)
    let prefix = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
    return (prefix + payload, true)
  }

  private static let tooLong = AppError.validationError(
    field: "standard input", message: "A message is longer than \(limit >> 20) MiB.")

  private mutating func next(
    from start: Int
  ) throws(AppError) -> (message: WebSocketMessage, end: Int)? {
    guard isBinary else {
      guard let end = rest[max(start, searched)...].firstIndex(of: 10) else {
        searched = rest.count
        return nil
      }
      return (.text(String(decoding: rest[start..<end], as: UTF8.self)), end + 1)
    }
    guard rest.count >= start + 4 else { return nil }
    let length = rest[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    guard length <= Self.limit else { throw Self.tooLong }
    let end = start + 4 + length
    return rest.count >= end ? (.binary(Array(rest[start + 4..<end])), end) : nil
  }
}
