import BridgeSessionProtocol

/// The output of a session on disk: segments of 1 to 8 MiB and an index of streams that is written
/// before the bytes. Nothing is synced but the end: what ends the machine ends the program too.
///
/// Where the disk takes no more, the newest output is kept in memory, up to 4 MiB; then the oldest
/// on the disk makes space for it.
final class Journal {
  private let directory: Directory
  /// Where a segment ends and the next one begins.
  private let segmentLength: UInt64
  private(set) var segments: [Segment] = []
  /// The files of the segment that is written; nil before the first byte, and in a journal that is
  /// read only.
  private var live: LiveSegment?
  private var reader: SegmentReader?
  /// What was appended last: a client that keeps up is served without reading it back.
  private var newestBytes: (start: UInt64, stream: ProgramStream, bytes: [UInt8])?
  /// Whether `newestBytes` is not written yet: the echo of a key is sent before it is stored.
  private(set) var isPending = false
  private var memory = MemoryRing()
  /// Why the disk takes no more; nil while it does.
  private(set) var failure: SystemError?

  /// The most that is appended at once.
  static let longestAppend = 256 << 10

  /// True while an attachment reads what is appended.
  var keepsNewest = false

  /// The terminal's modes now, for the start of each segment; nil on pipes.
  var modes: (() -> [UInt8])?

  /// The oldest output that is kept.
  private(set) var oldest: UInt64 = 0
  /// The end of the output.
  var newest: UInt64 { stored + (isPending ? UInt64(newestBytes?.bytes.count ?? 0) : 0) }
  /// The end of what is written, or in memory because it cannot be.
  private var stored: UInt64 { max(memory.end, segments.last?.end ?? 0) }

  /// The journal of a session whose files are in `directory`, empty or as its keeper left it.
  init(_ directory: Directory, segmentLength: UInt64 = Segment.shortest) {
    self.directory = directory
    self.segmentLength = segmentLength
    scan()
  }

  /// Finds segments that were written since.
  func scan() {
    let starts = directory.names().compactMap(Segment.offset(ofName:)).sorted()
    segments = starts.compactMap { start in
      var segment = Segment(start: start)
      guard let info = directory.info(of: segment.dataName), info.isFile else { return nil }
      segment.length = min(info.size, Segment.longest)
      return segment
    }
    // Where two overlap, the later one has the bytes.
    for index in segments.indices.dropLast() {
      segments[index].length = min(
        segments[index].length, segments[index + 1].start - segments[index].start)
    }
    oldest = segments.first?.start ?? 0
    reader = nil
  }

  /// Where the output begins that only memory has; nil where the disk has all of it.
  var memoryStart: UInt64? { memory.end > 0 ? memory.start : nil }

  /// True when nothing more can be kept without dropping: the disk and the memory are full.
  var isFull: Bool { failure != nil && memory.isFull }

  /// Output of more bytes is written at once.
  static let longestPending = 4 << 10

  /// Appends output. What is short and sent at once may stay in memory until `settle`.
  func append(_ stream: ProgramStream, _ bytes: [UInt8]) {
    settle()
    newestBytes = failure == nil && keepsNewest ? (newest, stream, bytes) : nil
    // The modes at the start of a segment are those before its first byte.
    isPending =
      newestBytes != nil && bytes.count <= Self.longestPending && live != nil && !needsSegment
    if !isPending { store(stream, bytes) }
  }

  /// Writes what `append` has left.
  func settle() {
    guard isPending, let newestBytes else { return }
    isPending = false
    store(newestBytes.stream, newestBytes.bytes)
  }

  private func store(_ stream: ProgramStream, _ bytes: [UInt8]) {
    if failure?.isShortage == true, memory.isFull { makeSpace() }
    if failure != nil {
      memory.append(stream, bytes)
    } else {
      do throws(SystemError) {
        try write(stream, bytes)
      } catch {
        failure = error
        newestBytes = nil
        // What was written in part is written again to memory.
        if let last = segments.last { live?.data.truncate(to: last.length) }
        // Or the next one would have its name.
        if segments.last?.length == 0 {
          removeLast()
          live = nil
        }
        memory = MemoryRing(start: segments.last?.end ?? 0)
        memory.append(stream, bytes)
      }
    }
    if memory.start > segments.last?.end ?? 0, memory.end > 0 { dropFiles() }
  }

  /// Tries to write what is in memory; true when the disk takes output again.
  func retry() -> Bool {
    settle()
    guard failure != nil else { return true }
    let kept = memory
    live = nil
    failure = nil
    memory = MemoryRing()
    for (stream, bytes) in kept.contents {
      do throws(SystemError) {
        try write(stream, bytes, at: kept.start)
      } catch {
        failure = error
        while let last = segments.last, last.start >= kept.start { removeLast() }
        memory = kept
        live = nil
        return false
      }
    }
    return true
  }

  /// The oldest output on the disk gives its space to the newest, as far as that is needed.
  private func makeSpace() {
    while segments.count > 1 {
      removeFirst()
      if retry() { return }
    }
  }

  /// Drops whole segments below `offset`; returns the oldest output that is still kept.
  func drop(below offset: UInt64) -> UInt64 {
    while segments.count > 1, segments[0].end <= offset { removeFirst() }
    return oldest
  }

  /// Frees memory by dropping what lies below `offset`.
  func dropMemory(below offset: UInt64) {
    guard failure != nil, offset > memory.start else { return }
    memory.drop(below: offset)
    dropFiles()
  }

  /// Output from `offset` to at most `limit`, of one segment: what cannot be read, or is not what
  /// was written, is missing to the end of its segment.
  func piece(from offset: UInt64, to limit: UInt64, framed: Bool = true) -> Piece {
    settle()
    let end = min(limit, newest, offset + UInt64(Limits.payload))
    guard offset < end else { return .bytes([], through: offset) }
    if memory.end > 0, offset >= memory.start {
      return .bytes(memory.bytes(from: offset, to: end, framed: framed), through: end)
    }
    let after =
      segments.first { $0.start > offset }?.start ?? (memory.end > 0 ? memory.start : newest)
    guard let segment = segments.last(where: { $0.start <= offset }), segment.end > offset,
      let source = source(of: segment),
      let bytes = source.bytes(from: offset, to: min(end, segment.end), framed: framed)
    else { return .missing(to: max(after, offset + 1)) }
    return .bytes(bytes, through: min(end, segment.end))
  }

  /// A frame of what was appended last, from `offset` to at most `limit`: its bytes as they were
  /// read, without a copy. Nil where that is not all of it.
  func newestFrame(
    from offset: UInt64, to limit: UInt64
  ) -> (header: [UInt8], bytes: ArraySlice<UInt8>)? {
    let end = min(limit, newest, offset + UInt64(Limits.payload))
    guard let kept = newestBytes, kept.start <= offset, offset < end else { return nil }
    let bytes = kept.bytes[Int(offset - kept.start)..<Int(end - kept.start)]
    let header = Frame.header(.output, stream: kept.stream, length: bytes.count, offset: offset)
    return (header, bytes)
  }

  /// The longest part of the output from `offset` to `end` that reaches to `end` without a hole.
  func tail(from offset: UInt64, to end: UInt64) -> (start: UInt64, bytes: [UInt8]) {
    var (start, bytes, position) = (offset, [UInt8](), offset)
    while position < end {
      switch piece(from: position, to: end, framed: false) {
      case .bytes(let more, let through):
        bytes += more
        position = max(through, position + 1)
      case .missing(let next):
        bytes = []
        position = next
        start = min(next, end)
      }
    }
    return (start, bytes)
  }

  /// The terminal's modes at the start of a segment.
  func modes(of segment: Segment) -> [UInt8] {
    (try? directory.read(segment.modesName, limit: Segment.modesLimit)) ?? []
  }

  /// The bytes of output on disk.
  var size: UInt64 { segments.reduce(0) { $0 + $1.length } }

  /// True for the names of a journal's files.
  static func isFile(_ name: String) -> Bool {
    ["out.", "idx.", "mod."].contains { name.hasPrefix($0) }
  }

  /// Ends the last segment with its checksum and makes it outlive the machine. What comes before it
  /// the kernel writes within half a minute; where the machine ends sooner it is a gap.
  func finish() throws(SystemError) {
    settle()
    if let failure { throw failure }
    guard let live, let last = segments.last else { return }
    try sealLive(live, last)
    try live.data.sync()
    try live.index.sync()
    self.live = nil
  }

  private func write(
    _ stream: ProgramStream, _ bytes: [UInt8], at start: UInt64? = nil
  ) throws(SystemError) {
    if live == nil || needsSegment {
      try startSegment(at: segments.last?.end ?? start ?? 0, from: start)
    }
    guard var current = live, let last = segments.indices.last else { return }
    let offset = segments[last].end
    if segments[last].runs?.last?.stream != stream {
      let run = Run(offset: offset, stream: stream)
      let position = current.records * UInt64(Segment.recordLength)
      try current.index.write(Segment.record(run), at: position)
      current.records += 1
      segments[last].runs = (segments[last].runs ?? []) + [run]
      live = current
    }
    try current.data.write(bytes, at: segments[last].length)
    current.checksum.add(bytes)
    live = current
    segments[last].length += UInt64(bytes.count)
  }

  private var needsSegment: Bool {
    (segments.last?.length ?? 0) >= segmentLength
      || (segments.last?.runs?.count ?? 0) >= Segment.maximumRuns
  }

  private func startSegment(at end: UInt64, from start: UInt64?) throws(SystemError) {
    if let live, let last = segments.indices.last {
      try sealLive(live, segments[last])
      segments[last].runs = nil
    }
    live = nil
    let segment = Segment(start: max(end, start ?? 0), runs: [])
    let index = try emptied(segment.indexName)
    let data = try emptied(segment.dataName)
    if let modes = modes?(), !modes.isEmpty {
      try directory.replace(segment.modesName, modes, syncs: false)
    }
    live = LiveSegment(start: segment.start, data: data, index: index)
    segments.append(segment)
    if segments.count == 1 { oldest = segment.start }
  }

  /// A new file, or one without its former bytes. A new one is not truncated: what closes a file
  /// that was truncated has it written to disk first (ext4, auto_da_alloc).
  private func emptied(_ name: String) throws(SystemError) -> Descriptor {
    let file = try directory.create(name)
    if try file.info().size > 0 { file.truncate(to: 0) }
    return file
  }

  private func sealLive(
    _ live: LiveSegment, _ segment: Segment
  ) throws(SystemError) {
    let seal = Segment.seal(at: segment.end, live.checksum)
    try live.index.write(seal, at: live.records * UInt64(Segment.recordLength))
  }

  private func source(of segment: Segment) -> SegmentReader? {
    if let live, live.start == segment.start, let runs = segment.runs {
      return SegmentReader(segment, data: live.data, runs: runs)
    }
    if let reader, reader.start == segment.start, reader.isSealed || reader.end == segment.end {
      return reader
    }
    guard let opened = SegmentReader(segment, in: directory) else { return nil }
    reader = opened
    return opened
  }

  private func remove(_ segment: Segment) {
    for name in [segment.dataName, segment.indexName, segment.modesName] { directory.remove(name) }
  }

  private func removeFirst() {
    let segment = segments.removeFirst()
    remove(segment)
    if reader?.start == segment.start { reader = nil }
    oldest = segments.first?.start ?? memory.start
  }

  private func removeLast() {
    remove(segments.removeLast())
  }

  /// The memory no longer begins where the files end: what lies before it is one gap.
  private func dropFiles() {
    live = nil
    while !segments.isEmpty { removeFirst() }
    oldest = memory.start
  }
}
