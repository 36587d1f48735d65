public import BridgeSessionProtocol

/// A piece of a session's output, in its place.
public struct SessionChunk: Sendable, Equatable {
  /// What it is.
  public enum Content: Sendable, Equatable {
    /// Bytes that the program wrote.
    case bytes([UInt8], ProgramStream)
    /// Bytes that are no longer kept, to below this offset.
    case gap(to: UInt64)
    /// Bytes to below this offset that were left out because the terminal was far behind, and the
    /// sequences that draw on a fresh one what it shows behind them. The bytes are kept.
    case omitted(to: UInt64, screen: [UInt8])
    /// First, where output begins in the middle of a screen: escape sequences for the terminal; and
    /// on a terminal also after an outage, then without any. Up to `live` the output is old, and
    /// what a terminal answers must be taken out (`MuteFilter`).
    case screen([UInt8], live: UInt64)
    /// The size of the session's terminal from here on, to a client that follows it.
    case size(WindowSize)
  }

  /// The offset of the first byte.
  public var offset: UInt64
  /// What it is.
  public var content: Content

  /// A piece at `offset`.
  public init(offset: UInt64, content: Content) {
    self.offset = offset
    self.content = content
  }

  /// The offset after the last byte: what to commit once its effect is stored.
  public var end: UInt64 {
    switch content {
    case .bytes(let bytes, _): offset + UInt64(bytes.count)
    case .gap(let to), .omitted(let to, screen: _): to
    case .screen, .size: offset
    }
  }

  /// How many bytes it holds.
  var size: Int {
    switch content {
    case .bytes(let bytes, _), .screen(let bytes, live: _), .omitted(to: _, screen: let bytes):
      bytes.count
    case .gap, .size: 0
    }
  }
}

/// Chunks that were received and not read yet. The window of the protocol bounds the bytes.
struct OutputQueue: Sendable {
  /// More chunks than this hold back the channel.
  static let limit = 4096
  private static let joinedBelow = 8 << 10

  private var arrived: [SessionChunk] = []
  /// The oldest last.
  private var leaving: [SessionChunk] = []

  var count: Int { arrived.count + leaving.count }

  /// Adds a chunk; small ones of one stream, and gaps side by side, become one.
  mutating func append(_ chunk: SessionChunk) {
    guard let last = arrived.last, last.end == chunk.offset else { return arrived.append(chunk) }
    switch (last.content, chunk.content) {
    case (.bytes(let old, let stream), .bytes(let new, let other))
    where stream == other && old.count < Self.joinedBelow && new.count < Self.joinedBelow:
      arrived[arrived.count - 1].content = .bytes(old + new, stream)
    case (.gap, .gap(let to)): arrived[arrived.count - 1].content = .gap(to: to)
    case (.bytes, _), (.gap, _), (.screen, _), (.omitted, _), (.size, _): arrived.append(chunk)
    }
  }

  /// The oldest chunk, and those behind it while all have at most `limit` bytes.
  mutating func popFirst(upTo limit: Int) -> [SessionChunk] {
    var chunks: [SessionChunk] = []
    var size = 0
    while let next = oldest, chunks.isEmpty || size + next.size <= limit {
      leaving.removeLast()
      chunks.append(next)
      size += next.size
    }
    return chunks
  }

  private var oldest: SessionChunk? {
    mutating get {
      if leaving.isEmpty {
        swap(&arrived, &leaving)
        leaving.reverse()
      }
      return leaving.last
    }
  }
}
