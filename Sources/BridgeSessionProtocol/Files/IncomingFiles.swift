/// Verifies what a sender says, one frame after the other, and decides what is done about it:
/// without any file, so that every lie is a test. A name reaches a file system only as a
/// `FileName`, in a directory that was entered by one.
package struct IncomingFiles: Sendable {
  /// What is done about a frame.
  package enum Step: Sendable, Equatable {
    case totals(files: UInt64, bytes: UInt64)
    /// Enters a directory; nil is the top.
    case directory(entry: UInt64, FileName?, FileMeta)
    case leave(FileMeta)
    case file(entry: UInt64, FileName?, FileStart)
    case write([UInt8], at: UInt64)
    /// Compares the state of the check.
    case verify([UInt8], at: UInt64)
    case end(FileEnd)
    /// A symbolic link that stays inside the tree.
    case link(entry: UInt64, FileName, target: [UInt8])
    /// An entry is missing; `isUnderWay` is the file that was begun.
    case missing(entry: UInt64, FilePath, FileFault, isUnderWay: Bool)
    case done
    /// The sender ends the stream.
    case failed(FileFault)
  }

  private struct Open {
    var name: FilePath
    var size: UInt64
    var offset: UInt64
  }

  private let isRecursive: Bool
  private let part: FilePoint.Part?
  private var metas: [FileMeta] = []
  private var file: Open?
  /// Whether the top of the copy came.
  package private(set) var hasTop = false
  private var hasTotals = false
  private var isOver = false
  /// The directory that was entered last.
  package private(set) var directory: FilePath = []
  /// Entries so far.
  package private(set) var entries: UInt64 = 0

  /// At the beginning of a stream.
  ///
  /// - Parameter part: the file of which a part is there.
  package init(isRecursive: Bool, part: FilePoint.Part? = nil) {
    self.isRecursive = isRecursive
    self.part = part
  }

  /// Takes one frame in; nil where nothing follows.
  ///
  /// - Throws: the rule that it breaks; the stream is over then.
  package mutating func take(_ frame: FileFrame) throws(ProtocolError) -> Step? {
    if case .failed(let fault) = frame { return .failed(fault) }
    guard !isOver else { throw .unexpectedFrame(type: frame.number) }
    switch frame {
    case .data(let offset, let bytes): return try write(bytes, offset, frame)
    case .mark(let offset, let state):
      guard let file, file.offset == offset, offset.isMultiple(of: FileLimits.block) else {
        throw .unexpectedFrame(type: frame.number)
      }
      return .verify(state, at: offset)
    case .end(let size, let end):
      guard let file, file.size == size, file.offset == size else {
        throw .hole(expected: file?.size ?? 0, found: size)
      }
      self.file = nil
      return .end(end)
    case .skipped(let entry, let name, let fault) where file != nil && entry + 1 == entries:
      guard name.isEmpty, let path = file?.name else {
        throw .unexpectedFrame(type: frame.number)
      }
      file = nil
      return .missing(entry: entry, path, fault, isUnderWay: true)
    case .totals, .directory, .leave, .file, .link, .skipped, .done:
      guard file == nil else { throw .unexpectedFrame(type: frame.number) }
      return try takeOutsideFiles(frame)
    case .open, .ready, .acknowledge, .refused, .finished, .failed, .site:
      throw .unexpectedFrame(type: frame.number)
    }
  }

  private mutating func write(
    _ bytes: [UInt8], _ offset: UInt64, _ frame: FileFrame
  ) throws(ProtocolError) -> Step {
    guard let file else { throw .unexpectedFrame(type: frame.number) }
    guard file.offset == offset else { throw .hole(expected: file.offset, found: offset) }
    guard file.size - offset >= UInt64(bytes.count) else {
      throw .windowExceeded(limit: file.size)
    }
    self.file?.offset += UInt64(bytes.count)
    return .write(bytes, at: offset)
  }

  private mutating func takeOutsideFiles(_ frame: FileFrame) throws(ProtocolError) -> Step? {
    switch frame {
    case .totals(let files, let bytes):
      guard !hasTotals else { throw .unexpectedFrame(type: frame.number) }
      hasTotals = true
      return .totals(files: files, bytes: bytes)
    case .directory(let entry, let name, let meta):
      let name = try begin(entry, name, frame)
      guard isRecursive, metas.count < FileLimits.depth else {
        throw .unexpectedFrame(type: frame.number)
      }
      metas.append(meta)
      if let name { directory.append(name.bytes) }
      return .directory(entry: entry, name, meta)
    case .leave:
      guard let meta = metas.popLast() else { throw .unexpectedFrame(type: frame.number) }
      if !metas.isEmpty { directory.removeLast() }
      return .leave(meta)
    case .file(let entry, let start):
      let name = try begin(entry, start.name, frame)
      let path = directory + (name.map { [$0.bytes] } ?? [])
      let isPart = part.map { $0.path == path && $0.offset == start.offset } ?? false
      guard start.offset == 0 || isPart else { throw .hole(expected: 0, found: start.offset) }
      file = Open(name: path, size: start.size, offset: start.offset)
      return .file(entry: entry, name, start)
    case .link(let entry, let name, let target):
      guard let name = try begin(entry, name, frame) else {
        throw .unexpectedFrame(type: frame.number)
      }
      guard FileName.staysInside(target: target, depth: metas.count) else {
        let path = directory + [name.bytes]
        return .missing(entry: entry, path, FileFault(.unsafeLink), isUnderWay: false)
      }
      return .link(entry: entry, name, target: target)
    case .skipped(let entry, let name, let fault):
      let name = try begin(entry, name, frame)
      let path = directory + (name.map { [$0.bytes] } ?? [])
      return .missing(entry: entry, path, fault, isUnderWay: false)
    case .done(let entries):
      guard metas.isEmpty, entries == self.entries else {
        throw .hole(expected: self.entries, found: entries)
      }
      isOver = true
      return .done
    case .open, .ready, .acknowledge, .refused, .data, .mark, .end, .finished, .failed, .site:
      throw .unexpectedFrame(type: frame.number)
    }
  }

  /// Numbers an entry and verifies its name: none at the top, of which there is one.
  private mutating func begin(
    _ entry: UInt64, _ name: [UInt8], _ frame: FileFrame
  ) throws(ProtocolError) -> FileName? {
    guard entry == entries else { throw .hole(expected: entries, found: entry) }
    entries += 1
    if metas.isEmpty {
      guard !hasTop, name.isEmpty else { throw .unexpectedFrame(type: frame.number) }
      hasTop = true
      return nil
    }
    guard let name = FileName(name) else {
      throw .malformedFields("a name that no file in a directory can have")
    }
    return name
  }
}
