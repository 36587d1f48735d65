// Frames as bytes: kind (1), three zeros, length (4), value (8), payload.
extension FileFrame {
  /// The 16 bytes before a payload.
  static func header(_ kind: Kind, length: Int, value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = [kind.rawValue, 0, 0, 0]
    bytes.reserveCapacity(Limits.headerLength + length)
    bytes.append(bigEndian: UInt64(length), count: 4)
    bytes.append(bigEndian: value, count: 8)
    return bytes
  }

  /// The 16 bytes before the bytes of a file.
  package static func dataHeader(length: Int, offset: UInt64) -> [UInt8] {
    header(.data, length: length, value: offset)
  }

  /// Header and payload.
  package var encoded: [UInt8] {
    let payload = payload
    return Self.header(kind, length: payload.count, value: value) + payload
  }

  private var value: UInt64 {
    switch self {
    case .open, .ready, .leave, .finished, .failed, .site: 0
    case .acknowledge(let entry, _), .refused(let entry, _), .directory(let entry, _, _),
      .file(let entry, _), .link(let entry, _, _), .skipped(let entry, _, _):
      entry
    case .totals(let files, _): files
    case .data(let offset, _), .mark(let offset, _): offset
    case .end(let size, _): size
    case .done(let entries): entries
    }
  }

  private var payload: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .open(let request): return request.payload
    case .ready(let point): return point.payload
    case .refused(_, let fault), .failed(let fault): return fault.payload
    case .acknowledge(_, let count), .totals(_, let count):
      bytes.append(bigEndian: count, count: 8)
    case .directory(_, let name, let meta): bytes = meta.bytes + name
    case .leave, .done, .finished: break
    case .file(_, let start):
      bytes.append(bigEndian: start.size, count: 8)
      bytes.append(bigEndian: start.offset, count: 8)
      bytes += start.meta.bytes
      bytes.append(UInt8(truncatingIfNeeded: start.identity.count))
      bytes += start.identity + start.name
    case .link(_, let name, let target):
      bytes.append(UInt8(truncatingIfNeeded: name.count))
      bytes += name + target
    case .data(_, let data): return data
    case .mark(_, let state): return state
    case .end(_, let end):
      bytes.append((end.hasChanged ? 1 : 0) | (end.digest == nil ? 2 : 0))
      bytes += end.digest ?? [UInt8](repeating: 0, count: FileLimits.state)
    case .skipped(_, let name, let fault):
      bytes.append(UInt8(truncatingIfNeeded: name.count))
      bytes += name + fault.payload
    case .site(let site): return site.bytes
    }
    return bytes
  }

  /// Reads a payload whose header was verified.
  init(_ kind: Kind, value: UInt64, _ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let start = payload.startIndex
    switch kind {
    case .open: self = .open(try FileRequest(payload))
    case .ready: self = .ready(try FilePoint(payload))
    case .acknowledge:
      self = .acknowledge(entry: value, bytes: try Self.number(payload, at: start, kind))
    case .refused: self = .refused(entry: value, try FileFault(payload))
    case .totals: self = .totals(files: value, bytes: payload.bigEndian(at: start, count: 8))
    case .directory:
      self = .directory(
        entry: value, name: Array(payload.dropFirst(FileMeta.length)), try FileMeta(payload))
    case .leave: self = .leave
    case .file: self = .file(entry: value, try FileStart(payload))
    case .link:
      let (name, rest) = try Self.named(payload, kind)
      self = .link(entry: value, name: name, target: Array(rest))
    case .data: self = .data(offset: value, Array(payload))
    case .mark: self = .mark(offset: value, state: Array(payload))
    case .end:
      let flags = payload[start]
      guard flags < 4 else { throw .malformedPayload(type: kind.rawValue) }
      let digest = flags & 2 == 0 ? Array(payload.dropFirst()) : nil
      self = .end(size: value, FileEnd(digest: digest, hasChanged: flags & 1 != 0))
    case .skipped:
      let (name, rest) = try Self.named(payload, kind)
      self = .skipped(entry: value, name: name, try FileFault(rest))
    case .done: self = .done(entries: value)
    case .finished: self = .finished
    case .failed: self = .failed(try FileFault(payload))
    case .site: self = .site(FileSite(payload))
    }
  }

  /// A name with its length before it.
  private static func named(
    _ payload: ArraySlice<UInt8>, _ kind: Kind
  ) throws(ProtocolError) -> (name: [UInt8], rest: ArraySlice<UInt8>) {
    guard let length = payload.first, payload.count > Int(length) else {
      throw .malformedPayload(type: kind.rawValue)
    }
    let rest = payload.dropFirst()
    return (Array(rest.prefix(Int(length))), rest.dropFirst(Int(length)))
  }

  fileprivate static func number(
    _ payload: ArraySlice<UInt8>, at index: Int, _ kind: Kind
  ) throws(ProtocolError) -> UInt64 {
    let number = payload.bigEndian(at: index, count: 8)
    guard number < Limits.offset else {
      throw .offsetTooLarge(type: kind.rawValue, offset: number)
    }
    return number
  }
}

extension FileStart {
  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let (start, kind) = (payload.startIndex, FileFrame.Kind.file)
    size = try FileFrame.number(payload, at: start, kind)
    offset = try FileFrame.number(payload, at: start + 8, kind)
    meta = try FileMeta(payload.dropFirst(16))
    let rest = payload.dropFirst(16 + FileMeta.length)
    let length = rest.first.map { Int($0) } ?? 0
    guard length <= 64, rest.count > length, offset <= size else {
      throw .malformedPayload(type: kind.rawValue)
    }
    identity = Array(rest.dropFirst().prefix(length))
    name = Array(rest.dropFirst(1 + length))
  }
}

/// Finds frames of the file stream in bytes that are cut anywhere. A header is verified before its
/// payload is stored, and each byte of a payload is copied once.
package struct FileFrameParser: Sendable {
  /// What was added last, up to `head` taken.
  private var bytes: [UInt8] = []
  private var head = 0
  /// A header that is not whole yet; else empty.
  private var header: [UInt8] = []
  private var frame: Incomplete?

  /// A frame whose header came.
  private struct Incomplete {
    let kind: FileFrame.Kind
    let value: UInt64
    let length: Int
    var payload: [UInt8] = []

    init(_ header: [UInt8]) throws(ProtocolError) {
      let code = header[0]
      guard header[1...3].allSatisfy({ $0 == 0 }) else { throw .reservedNotZero(type: code) }
      guard let kind = FileFrame.Kind(rawValue: code) else { throw .unknownFrame(type: code) }
      let length = UInt32(truncatingIfNeeded: header.bigEndian(at: 4, count: 4))
      value = header.bigEndian(at: 8, count: 8)
      guard length <= kind.lengths.upperBound else {
        throw .frameTooLong(type: code, length: length)
      }
      guard length >= kind.lengths.lowerBound else {
        throw .wrongLength(type: code, length: length)
      }
      guard value < Limits.offset, value &+ UInt64(length) < Limits.offset else {
        throw .offsetTooLarge(type: code, offset: value)
      }
      self.kind = kind
      self.length = Int(length)
    }
  }

  package init() {}

  /// Adds bytes; call `next` until it returns nil before adding more.
  package mutating func append(_ bytes: [UInt8]) {
    self.bytes = head == self.bytes.count ? bytes : self.bytes[head...] + bytes
    head = 0
  }

  /// True between frames.
  package var isAtBoundary: Bool { head == bytes.count && header.isEmpty && frame == nil }

  /// The next complete frame; nil until more bytes come.
  ///
  /// - Throws: the first rule that a header or a payload breaks; the stream is over then.
  package mutating func next() throws(ProtocolError) -> FileFrame? {
    if frame == nil {
      header += take(Limits.headerLength - header.count)
      guard header.count == Limits.headerLength else { return nil }
      frame = try Incomplete(header)
      header.removeAll(keepingCapacity: true)
    }
    guard var frame else { return nil }
    self.frame = nil
    frame.payload.reserveCapacity(frame.length)
    frame.payload += take(frame.length - frame.payload.count)
    guard frame.payload.count == frame.length else {
      self.frame = frame
      return nil
    }
    if frame.kind == .data { return .data(offset: frame.value, frame.payload) }
    return try FileFrame(frame.kind, value: frame.value, frame.payload[...])
  }

  /// The next bytes, up to `count`.
  private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer { head = min(head + count, bytes.count) }
    return bytes[head...].prefix(count)
  }
}
