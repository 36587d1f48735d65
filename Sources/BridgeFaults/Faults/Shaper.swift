public import NIOCore

/// A transformation of the bytes of one direction of one connection, decided without time or
/// sockets.
///
/// Each connection and direction gets its own copy; portions come in stream order.
public protocol Shaper: Sendable {
  /// Turns what arrives into what goes on. An empty answer swallows it.
  mutating func shape(_ portion: Portion, generator: inout SplitMix64) -> [Portion]
}

/// Bytes on their way: one write to the socket.
public struct Portion: Sendable {
  /// The bytes to write.
  public var bytes: ByteBuffer
  /// When, counted from the start of the proxy; never earlier than the portion before it.
  public var due: Duration
  /// The end of the connection once the bytes are written.
  public var ending: Ending?
  /// An alteration for the event log, in a few words.
  public var alteration: String?

  /// How many bytes it has.
  public var count: Int { bytes.readableBytes }

  /// A portion that only carries bytes.
  public init(_ bytes: ByteBuffer, due: Duration) {
    self.bytes = bytes
    self.due = due
  }

  /// How a connection ends.
  public enum Ending: Sendable, Hashable {
    /// RST to both sides.
    case reset
    /// FIN in this direction; the rest is dropped.
    case finish
  }
}

extension Portion {
  /// The same bytes in portions of at most `size`; what else it carries goes with the last one.
  func pieces(of size: Int) -> [Portion] {
    guard count > size else { return [self] }
    var rest = bytes
    var pieces: [Portion] = []
    while rest.readableBytes > size, let piece = rest.readSlice(length: size) {
      pieces.append(Portion(piece, due: due))
    }
    var last = self
    last.bytes = rest
    return pieces + [last]
  }
}

extension ByteBuffer {
  /// Its first `count` bytes.
  func prefix(_ count: Int) -> ByteBuffer {
    getSlice(at: readerIndex, length: Swift.min(count, readableBytes)) ?? ByteBuffer()
  }
}
