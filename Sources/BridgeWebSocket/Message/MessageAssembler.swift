import BridgeErrors

/// Puts messages together from the pieces of frames that libwebsockets hands out, checks text, and
/// refuses what is too long before it is stored.
struct MessageAssembler {
  /// A piece of a data frame.
  struct Piece {
    /// Begins a message (not merely a frame).
    var isFirst: Bool
    /// Ends a message.
    var isLast: Bool
    /// Of a binary message.
    var isBinary: Bool
    /// The remaining bytes of this frame, according to its header.
    var left: Int
  }

  /// Why the connection must end.
  enum Fault: Error, Equatable {
    case tooLong(limit: Int)
    case badText

    /// RFC 6455, 7.4.1.
    var closeCode: Int {
      switch self {
      case .tooLong: CloseCode.messageTooBig
      case .badText: CloseCode.invalidPayload
      }
    }

    var meaning: WebSocketFacts.Fault {
      switch self {
      case .tooLong(let limit): .tooLong(.message, limit: limit)
      case .badText: .broken("A text message is not UTF-8.")
      }
    }
  }

  /// Never more at once on the word of a frame header alone.
  private static let largestReserve = 1 << 20

  /// Bytes of messages so far; wraps around.
  private(set) var received: UInt64 = 0
  /// Whether a message has begun and not ended.
  private(set) var isInMessage = false
  private let limit: Int
  private var bytes: [UInt8] = []
  private var text = UTF8Validator()

  /// Takes messages of at most `limit` bytes.
  init(limit: Int) {
    self.limit = limit
  }

  /// Takes a piece in; the message when it was the last of one.
  mutating func take(
    _ content: some Collection<UInt8>, _ piece: Piece
  ) throws(Fault) -> WebSocketMessage? {
    if piece.isFirst { begin() }
    received &+= UInt64(content.count)
    isInMessage = !(piece.isLast && piece.left == 0)
    let (expected, isHuge) = (bytes.count + content.count).addingReportingOverflow(piece.left)
    guard !isHuge, expected <= limit else { throw .tooLong(limit: limit) }
    if !piece.isBinary, !text.take(content) { throw .badText }
    if piece.isFirst && piece.isLast && piece.left == 0 {
      return try message(Array(content), isBinary: piece.isBinary)
    }
    if bytes.capacity < expected {
      bytes.reserveCapacity(
        max(min(expected, bytes.count + content.count + Self.largestReserve), bytes.capacity * 2))
    }
    bytes.append(contentsOf: content)
    guard piece.isLast, piece.left == 0 else { return nil }
    defer { bytes = [] }
    return try message(bytes, isBinary: piece.isBinary)
  }

  private mutating func begin() {
    bytes = []
    text = UTF8Validator()
  }

  private func message(
    _ bytes: [UInt8], isBinary: Bool
  ) throws(Fault) -> WebSocketMessage {
    if isBinary { return .binary(bytes) }
    guard text.isComplete else { throw .badText }
    return .text(String(decoding: bytes, as: UTF8.self))
  }
}
