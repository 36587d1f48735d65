package import BridgeSessionProtocol

/// The end that reads: a file or a tree as frames. It waits for nothing: `next` reads files, and
/// returns nil while the receiver has to say something first.
package final class FileSender {
  private struct Reading {
    let file: OpenFile
    let entry: UInt64
    let status: FileStatus
    var offset: UInt64
    var hash: FileHash
  }

  private enum Phase {
    case idle
    case sending
    case done
    case over
  }

  private let root: [UInt8]
  private let isRecursive: Bool
  private let exclusion: FileExclusion
  private let counts: Bool
  /// Nil where this stream carries all.
  private let stripe: FileStripe?
  /// The key of the check; nil for SHA-256.
  private var key: [UInt8]?
  private var walk: TreeWalk
  private var window = OutgoingFiles()
  /// What the receiver takes; nil where all that its window takes may be under way.
  private var pace: SendingPace?
  private var part: FilePoint.Part?
  private var file: Reading?
  private var phase = Phase.idle
  private var hasCounted = false
  private var settled = FileProgress()
  /// Bytes of frames that are sent at once; the last of them may go beyond by one frame.
  private static let batch = 256 << 10
  private static let space = batch + FileLimits.data + 4096

  /// What happened since this was emptied.
  package private(set) var events: [FileEvent] = []
  /// The file that began last.
  package private(set) var start: FileStart?
  /// Why the receiver ended the copy.
  package private(set) var failure: FileFault?
  /// The entry that it ended it at; empty for the destination.
  package private(set) var failurePath: FilePath = []
  /// Whether the receiver ended the copy that it had taken up: of a tree it has removed then what
  /// it wrote.
  package private(set) var isEndedByReceiver = false
  /// Whether the receiver has settled all.
  package private(set) var isFinished = false

  /// Sends what is at `root`.
  ///
  /// - Parameters:
  ///   - exclusion: what of a tree is left out.
  ///   - counts: whether a tree is counted first, for a receiver that shows progress.
  ///   - stripe: which stream of a file it is; nil for all of it.
  ///   - key: that of the check; nil for SHA-256.
  ///   - isPaced: whether no more is under way than the receiver takes in a moment.
  package init(
    _ root: [UInt8], isRecursive: Bool, excluding exclusion: FileExclusion = .none,
    counts: Bool = true, stripe: FileStripe? = nil, key: [UInt8]? = nil, isPaced: Bool = false
  ) {
    pace = isPaced ? SendingPace() : nil
    self.stripe = stripe
    self.key = key
    self.root = root
    self.isRecursive = isRecursive
    self.exclusion = exclusion
    self.counts = counts
    walk = TreeWalk(root, isRecursive: isRecursive, excluding: exclusion)
  }

  /// What is settled, and written of the first file that is not.
  package var progress: FileProgress {
    var progress = settled
    progress.bytes += window.bytes
    return progress
  }

  /// Where a receiver that kept nothing in memory can go on.
  package var point: FilePoint { window.point }

  /// The events so far; they are forgotten.
  package func takeEvents() -> [FileEvent] {
    defer { events = [] }
    return events
  }

  /// A stream begins where the receiver is ready.
  package func connect(_ point: FilePoint) {
    file = nil
    refused = nil
    if let entry = window.restart(at: point) { settle([entry]) }
    part = point.part
    pace = pace?.atRest
    walk = TreeWalk(
      root, isRecursive: isRecursive, excluding: exclusion, after: point.after)
    phase = .sending
  }

  /// The stream is over; another one may begin.
  package func disconnect() {
    file = nil
    phase = .idle
  }

  /// From the next stream on the check is SHA-256: a state of another one is of no use then.
  package func useSHA256() {
    guard key != nil else { return }
    key = nil
    window.forgetPart()
  }

  // MARK: Receiving

  /// Takes in what the receiver says.
  ///
  /// - Parameter now: for one that is paced.
  /// - Throws: the rule that it breaks.
  package func take(_ frame: FileFrame, at now: Milliseconds = 0) throws(ProtocolError) {
    switch frame {
    case .acknowledge(let entry, let bytes):
      settle(try window.acknowledge(entry, bytes: bytes))
      pace?.acknowledged(window.arrived, at: now)
    case .refused(let entry, let fault):
      try window.refuse(entry, fault)
      guard let file, file.entry == entry else { return }
      // Its data are not wanted: the next entry follows.
      self.file = nil
      refused = (entry, fault)
    case .finished:
      guard phase == .done, window.isEmpty else {
        throw .unexpectedFrame(type: frame.number)
      }
      isFinished = true
      phase = .over
    case .failed(let fault):
      isEndedByReceiver = phase != .idle
      failure = fault
      failurePath = window.current ?? []
      phase = .over
    case .open, .ready, .totals, .directory, .leave, .file, .link, .data, .mark, .end, .skipped,
      .done, .site:
      throw .unexpectedFrame(type: frame.number)
    }
  }

  /// The file under way, which the receiver does not write.
  private var refused: (entry: UInt64, fault: FileFault)?

  private func settle(_ entries: [OutgoingFiles.Entry]) {
    for entry in entries {
      if let fault = entry.fault {
        events.append(.missing(entry.path, fault, isTarget: entry.isRefused))
      } else if let size = entry.size {
        settled.files += 1
        settled.bytes += size
        events.append(
          .copied(entry.path, bytes: size, digest: entry.digest, hasChanged: entry.hasChanged))
      }
    }
  }

  // MARK: Sending

  /// The next bytes; nil while the receiver has to settle something first, and after the end.
  ///
  /// - Parameter now: for one that is paced.
  package func next(at now: Milliseconds = 0) -> [UInt8]? {
    guard phase == .sending else { return nil }
    window.pace = pace?.window() ?? .max
    defer {
      pace?.sent(taken: window.arrived, end: window.sent, isLimited: phase == .sending, at: now)
    }
    return nextBatch()
  }

  private func nextBatch() -> [UInt8]? {
    var batch = count()
    // Of a packet that a link carried in part nothing is kept either, and one holds what is sent
    // at once.
    let length = window.piece < FileLimits.data ? 2 * window.piece : Self.batch
    if file != nil { batch.reserveCapacity(Self.space) }
    while batch.count < length, phase == .sending {
      if let (entry, fault) = refused {
        refused = nil
        batch += FileFrame.skipped(entry: entry, name: [], fault).encoded
      } else if file != nil {
        guard window.hasSpaceForMark else { return batch.isEmpty ? nil : batch }
        read(into: &batch)
      } else if window.hasSpaceForEntry {
        batch += nextEntry()
      } else {
        return batch.isEmpty ? nil : batch
      }
    }
    return batch.isEmpty ? nil : batch
  }

  /// Once, before a tree: how much there is.
  private func count() -> [UInt8] {
    guard counts, isRecursive, !hasCounted else { return [] }
    hasCounted = true
    let walk = TreeWalk(root, isRecursive: true, excluding: exclusion)
    var total = FileProgress()
    while let item = walk.next() {
      guard case .file(_, let status) = item else { continue }
      total.files += 1
      total.bytes += status.size
    }
    events.append(.totals(files: total.files, bytes: total.bytes))
    return FileFrame.totals(files: total.files, bytes: total.bytes).encoded
  }

  private func nextEntry() -> [UInt8] {
    guard let item = walk.next() else {
      phase = .done
      return FileFrame.done(entries: window.next).encoded
    }
    switch item {
    case .leave: return FileFrame.leave.encoded
    case .directory(let path, let meta):
      let entry = window.begin(.init(path))
      return FileFrame.directory(entry: entry, name: path.last ?? [], meta).encoded
    case .fault(let path, let fault): return skip(path, fault)
    case .link(let path, let target):
      guard FileName.staysInside(target: target, depth: path.count) else {
        return skip(path, FileFault(.unsafeLink))
      }
      let entry = window.begin(.init(path))
      return FileFrame.link(entry: entry, name: path.last ?? [], target: target).encoded
    case .file(let path, _):
      do throws(SystemFailure) {
        return begin(path, try walk.open(path))
      } catch {
        return skip(path, error.ofSource)
      }
    }
  }

  private func skip(_ path: FilePath, _ fault: FileFault) -> [UInt8] {
    let entry = window.begin(.init(path))
    window.giveUp(fault)
    return FileFrame.skipped(entry: entry, name: path.last ?? [], fault).encoded
  }

  private func begin(_ path: FilePath, _ file: OpenFile) -> [UInt8] {
    let status: FileStatus
    let hash: FileHash
    do throws(SystemFailure) {
      status = try file.status()
      guard status.kind == .file else { return skip(path, FileFault(.special)) }
      // A file of /proc: the system says its length only to who reads it.
      var first: [UInt8] = []
      if status.size == 0 { try file.read(at: 0, count: 1, into: &first) }
      guard first.isEmpty else {
        return skip(path, FileFault(.unreadable, "its length is not known"))
      }
      hash = try start(of: path, file, status)
    } catch {
      return skip(path, error.ofSource)
    }
    part = nil
    let identity = FileHash.digest(of: status.identity)
    let size = length(status)
    let entry = window.begin(.init(path, size: size, offset: hash.count, identity: identity))
    if !isRecursive { events.append(.begun(size: size)) }
    if hash.count > 0 {
      window.mark(at: hash.count, hash.state)
      events.append(.continued(path, at: hash.count))
    }
    self.file = Reading(file: file, entry: entry, status: status, offset: hash.count, hash: hash)
    let start = FileStart(
      name: path.last ?? [], size: size, offset: hash.count, meta: status.meta,
      identity: identity)
    self.start = start
    return FileFrame.file(entry: entry, start).encoded
  }

  /// How many bytes this stream carries.
  private func length(_ status: FileStatus) -> UInt64 {
    stripe?.length(of: status.size) ?? status.size
  }

  /// The state of the check at the offset to go on at: that of the receiver where this is the file
  /// that it has a part of, or begins with the same bytes; else at the beginning.
  private func start(
    of path: FilePath, _ file: OpenFile, _ status: FileStatus
  ) throws(SystemFailure) -> FileHash {
    guard let part, part.path == path, part.offset > 0, part.offset <= length(status)
    else {
      return FileHash(key: key)
    }
    if part.identity == FileHash.digest(of: status.identity) {
      return FileHash(part.state, count: part.offset, key: key)
    }
    let hash = try FileHash(of: file, count: part.offset, stripe, key: key)
    let isSame = [hash.state, hash.digest].contains(part.state)
    return hash.count == part.offset && isSame ? hash : FileHash(key: key)
  }

  /// Adds the next part of the file under way: its bytes are read where they are sent from.
  private func read(into batch: inout [UInt8]) {
    guard var reading = file else { return }
    let left = length(reading.status) - reading.offset
    guard left > 0 else {
      batch += end(reading)
      return
    }
    let place = stripe?.position(of: reading.offset) ?? reading.offset
    let run = stripe?.run(at: reading.offset) ?? left
    let count = Int(min(left, run, UInt64(window.piece)))
    let before = batch.count
    batch += FileFrame.dataHeader(length: count, offset: reading.offset)
    let start = batch.count
    var fault: FileFault?
    do throws(SystemFailure) {
      try reading.file.read(at: place, count: count, into: &batch)
      if batch.count < start + count { fault = FileFault(.shrank) }
    } catch {
      fault = error.ofSource
    }
    if let fault {
      batch.removeSubrange(before...)
      batch += giveUp(reading, fault)
      return
    }
    reading.hash.add(batch, from: start)
    reading.offset += UInt64(count)
    file = reading
    guard left > UInt64(count) else { return }
    window.mark(at: reading.offset, reading.hash.state)
    batch += FileFrame.mark(offset: reading.offset, state: reading.hash.state).encoded
  }

  private func end(_ reading: Reading) -> [UInt8] {
    file = nil
    let now = try? reading.file.status()
    let digest = reading.hash.digest
    let hasChanged = now?.hasChanged(since: reading.status) ?? true
    window.end(digest, hasChanged: hasChanged)
    let end = FileEnd(digest: digest, hasChanged: hasChanged)
    return FileFrame.end(size: length(reading.status), end).encoded
  }

  private func giveUp(_ reading: Reading, _ fault: FileFault) -> [UInt8] {
    file = nil
    window.giveUp(fault)
    return FileFrame.skipped(entry: reading.entry, name: [], fault).encoded
  }
}

extension FileHash {
  /// The first `count` bytes of a file, or of one of its streams; fewer where it is shorter.
  init(
    of file: OpenFile, count: UInt64, _ stripe: FileStripe? = nil, key: [UInt8]?
  ) throws(SystemFailure) {
    self.init(key: key)
    var bytes: [UInt8] = []
    while self.count < count {
      bytes.removeAll(keepingCapacity: true)
      let run = stripe?.run(at: self.count) ?? .max
      let piece = Int(min(count - self.count, run, UInt64(FileLimits.data)))
      let place = stripe?.position(of: self.count) ?? self.count
      try file.read(at: place, count: piece, into: &bytes)
      guard !bytes.isEmpty else { return }
      add(bytes)
    }
  }
}
