/// Finds frames in a stream of bytes that is cut anywhere.
///
/// A header is verified before its payload is stored, so no peer makes it hold more than one frame
/// beyond what was given to it at once. After an error it yields nothing more.
///
/// Where it splits output, a long output frame comes as several ones, as its bytes arrive: those
/// that came before the end of a link are not fetched again, and none are copied to be joined.
public struct FrameParser: Sendable {
  private var buffer: [UInt8] = []
  /// The first byte of `buffer` that was not read yet.
  private var head = 0
  /// Of the frame under way; of output that is split, of the part that is still to come.
  private var header: FrameHeader?
  /// Bytes of a frame of unknown type that are still to come.
  private var skipping = 0
  private var failure: ProtocolError?
  private let splitsOutput: Bool

  /// A parser at the start of a stream.
  public init(splitsOutput: Bool = false) { self.splitsOutput = splitsOutput }

  /// Bytes that are held and not read yet.
  public var buffered: Int { buffer.count - head }

  /// True between frames: nothing of a further frame was received.
  public var isAtBoundary: Bool { buffered == 0 && header == nil && skipping == 0 }

  /// Adds bytes that were received; call `next` until it returns nil before adding more.
  public mutating func append(_ bytes: [UInt8]) {
    guard failure == nil else { return }
    compact()
    if buffer.isEmpty { buffer = bytes } else { buffer += bytes }
  }

  /// Adds bytes of any sequence.
  public mutating func append(_ bytes: some Sequence<UInt8>) { append(Array(bytes)) }

  /// The next complete frame; nil until more bytes come.
  ///
  /// - Throws: the violation that ends the stream; the same one at every later call.
  public mutating func next() throws(ProtocolError) -> Frame? {
    if let failure { throw failure }
    do throws(ProtocolError) {
      return try parse()
    } catch {
      failure = error
      buffer = []
      head = 0
      throw error
    }
  }

  private mutating func parse() throws(ProtocolError) -> Frame? {
    while true {
      skip()
      guard skipping == 0 else { return nil }
      guard let header = try readHeader() else { return nil }
      guard let type = header.type else {
        skipping = Int(header.length)
        self.header = nil
        continue
      }
      let length = Int(header.length)
      if splitsOutput, type == .output { return takeOutput(of: header) }
      guard buffered >= length else { return nil }
      let payload = buffer[head..<(head + length)]
      head += length
      self.header = nil
      return try Frame(header, type: type, payload: payload)
    }
  }

  /// What is there of an output frame; nil for nothing.
  private mutating func takeOutput(of header: FrameHeader) -> Frame? {
    guard buffered > 0 else { return nil }
    var rest = header
    let count = min(Int(rest.length), buffered)
    let bytes: [UInt8]
    if head == 0, count == buffer.count {
      bytes = buffer
      buffer = []
    } else {
      bytes = Array(buffer[head..<(head + count)])
      head += count
    }
    let frame = Frame.output(
      offset: header.offset, stream: header.stream ?? .standardOutput, bytes: bytes)
    rest.length -= UInt32(count)
    rest.offset += UInt64(count)
    self.header = rest.length > 0 ? rest : nil
    return frame
  }

  private mutating func skip() {
    let count = min(skipping, buffered)
    head += count
    skipping -= count
  }

  private mutating func readHeader() throws(ProtocolError) -> FrameHeader? {
    if let header { return header }
    guard buffered >= Limits.headerLength else { return nil }
    let read = try FrameHeader(buffer[head..<(head + Limits.headerLength)])
    head += Limits.headerLength
    header = read
    return read
  }

  /// Gives up what was read. Moves at most as many bytes as were read since the last time.
  private mutating func compact() {
    guard head > 0, head >= buffered else { return }
    if head == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.count <= Self.keptCapacity)
    } else {
      buffer.removeSubrange(..<head)
    }
    head = 0
  }

  private static let keptCapacity = 128 << 10
}
