package import BridgeSessionProtocol

/// The end that writes. Each file is written under a temporary name beside its own, and gets that
/// in one step once all of it is there and the check over it is that of the sender.
package final class FileReceiver {
  /// A file under way; without a file its data are passed over.
  struct Writing {
    let file: OpenFile?
    let directory: OpenFile
    let name: [UInt8]
    let temporary: [UInt8]
    let path: FilePath
    let start: FileStart
    var hash: FileHash
    /// The state at the last mark.
    var kept: FileHash
  }

  private let path: [UInt8]
  private let name: [UInt8]?
  let isRecursive: Bool
  let transfer: Identifier
  let boot: [UInt8]
  /// Nil where one stream carries all.
  let striping: Striping?
  /// The key of the check; nil for SHA-256.
  private(set) var key: [UInt8]?
  /// As long as a stream of a striped file goes on.
  var owner: PartOwner?
  /// Of the owner of the last stream.
  var lastStamp: [UInt8]?
  /// Whether a striped file will not be completed.
  var isSpoiled = false
  /// How often this took part in its run: each time another stamp.
  var joined: UInt64 = 0
  var target: FileTarget?
  private var isInside: Bool?
  var incoming: IncomingFiles
  /// The directories that are entered; nil below one that could not be.
  var directories: [OpenFile?] = []
  var writing: Writing?
  private(set) var after: FilePath?
  var part: FilePoint.Part?
  /// The file of the part as the last stream left it.
  private var partIdentity: [UInt8]?
  var entries: UInt64 = 0
  private var acknowledged: UInt64 = 0
  var settled = FileProgress()
  var outbox: [UInt8] = []

  /// Whether a file may be without the sender's digest: that of a host which has no tool for it.
  package var acceptsNoDigest = false
  /// Waits for the end of what holds a part, and ends what does not write it; false where that
  /// writes on, or cannot be found. It is given a way to take the part. Nil where nothing is to be
  /// ended or waited for.
  package var displace: Displace?
  /// Given a part and a way to take it.
  package typealias Displace = @Sendable (OpenFile, () -> Bool) -> Bool
  /// What happened since this was emptied.
  package var events: [FileEvent] = []
  /// The file that began last.
  package internal(set) var start: FileStart?
  /// Why either end ended the copy.
  package private(set) var failure: (fault: FileFault, path: FilePath, isTarget: Bool)?
  /// Whether all is settled.
  package private(set) var isFinished = false

  /// Writes to `path`: inside of it, under `name`, where it is a directory; nil copies the content.
  ///
  /// - Parameters:
  ///   - isInto: whether `path` has to be a directory that is there.
  ///   - striping: which stream of the file it takes; nil for all of it.
  ///   - key: that of the check; nil for SHA-256.
  package init(
    _ path: [UInt8], name: [UInt8]?, isRecursive: Bool, transfer: Identifier, boot: [UInt8] = [],
    isInto: Bool = false, striping: Striping? = nil, key: [UInt8]? = nil
  ) {
    isInside = isInto ? true : nil
    self.striping = striping
    self.key = key
    self.path = path
    self.name = name
    self.isRecursive = isRecursive
    self.transfer = transfer
    self.boot = boot
    incoming = IncomingFiles(isRecursive: isRecursive)
  }

  /// What is in place, and written of the file under way.
  package var progress: FileProgress {
    var progress = settled
    progress.bytes += writing.map { $0.hash.count } ?? part?.offset ?? 0
    return progress
  }

  /// The events so far; they are forgotten.
  package func takeEvents() -> [FileEvent] {
    defer { events = [] }
    return events
  }

  // MARK: Streams

  /// A stream begins: returns where the sender has to go on.
  ///
  /// - Parameter claim: where the last stream ended, for a receiver that remembers nothing of it.
  package func connect(_ claim: FilePoint? = nil) throws(FileFault) -> FilePoint {
    let known = claim?.isInside ?? isInside
    let target = try FileTarget(path, name: name, isInside: known, isRecursive: isRecursive)
    self.target = target
    isInside = target.isInside
    try joinRun()
    if let claim {
      try verifyRun(claim)
      after = claim.after
      part = nil
      try find(claim)
    } else if let part, !isUntouched(part) {
      // Something else wrote it meanwhile: its bytes are compared, as those of an earlier run.
      self.part = nil
      try find(FilePoint(part: .init(path: part.path, offset: 0, state: [])))
    } else if after == nil, part == nil, !isRecursive {
      try find(FilePoint(part: .init(path: [], offset: 0, state: [])))
    }
    if part?.offset == 0 { part = nil }
    incoming = IncomingFiles(isRecursive: isRecursive, part: part)
    (entries, acknowledged, directories, outbox) = (0, 0, [], [])
    lastBytes = 0
    var point = FilePoint(after: after, part: part, boot: origin)
    point.isInside = isInside
    return point
  }

  /// The stream is over; another one may begin.
  package func disconnect() {
    defer { endStream() }
    if let writing, let file = writing.file, writing.kept.count > 0 {
      partIdentity = try? file.status().identity
      part = FilePoint.Part(
        path: writing.path, offset: writing.kept.count, state: writing.kept.state,
        identity: writing.start.identity)
    } else if let writing, writing.file != nil {
      if striping == nil { drop() }
      part = nil
    }
    writing = nil
    directories = []
  }

  /// From the next stream on the check is SHA-256: a state of another one is of no use then.
  package func useSHA256() {
    guard key != nil else { return }
    key = nil
    if let part { self.part = .init(path: part.path, offset: 0, state: []) }
    partIdentity = nil
  }

  /// Removes what was written of a file that will not be completed.
  package func abandon() {
    isSpoiled = striping != nil
    disconnect()
    guard striping == nil else { return }
    removePart()
  }

  /// Removes what an earlier stream wrote of a file.
  func removePart() {
    guard let part else { return }
    self.part = nil
    guard let place = try? place(of: part.path) else { return }
    place.directory.remove(temporary(place.name))
  }

  /// Whether the file of a part is the one that the last stream left, as that left it.
  private func isUntouched(_ part: FilePoint.Part) -> Bool {
    guard striping == nil else {
      return striping.flatMap { owner?.part.holds(part.offset, of: $0.stripe) } ?? false
    }
    guard let partIdentity, let place = try? place(of: part.path),
      let file = try? place.directory.reopen(temporary(place.name))
    else { return false }
    return (try? file.status().identity) == partIdentity
  }

  /// Locks a part for this receiver.
  func take(_ part: OpenFile) -> Bool {
    part.lockSoon() || displace?(part, part.lock) == true && part.lock()
  }

  /// What of the claimed file is there: the part that was acknowledged, or another one, whose bytes
  /// are compared. A whole file in its place is copied again: that its content is the same says
  /// nothing of its mode and time.
  private func find(_ claim: FilePoint) throws(FileFault) {
    guard let claimed = claim.part, let place = try? place(of: claimed.path) else { return }
    if let striping {
      return findStripe(claimed, isKnown: claim.boot == origin, striping.stripe)
    }
    if let file = try? place.directory.reopen(temporary(place.name)) {
      guard take(file) else { throw FileFault(.busy) }
      // The run that was waited for has ended with all of it: what it wrote is the file itself now.
      guard file.isNamed(temporary(place.name), in: place.directory) else { return }
      guard let size = try? file.status().size else { return }
      let isKnown = claimed.offset > 0 && claim.boot == boot && size >= claimed.offset
      if isKnown {
        part = claimed
      } else if let hash = try? FileHash(
        of: file, count: size & ~(FileLimits.unit - 1), key: key)
      {
        part = .init(path: claimed.path, offset: hash.count, state: hash.state)
      }
    }
  }

  /// The directory of an entry of an earlier stream, and its name there; nil for the top where that
  /// is a directory.
  private func place(
    of path: FilePath
  ) throws(SystemFailure) -> (directory: OpenFile, name: [UInt8])? {
    guard let target else { return nil }
    guard let last = path.last else { return target.name.map { (target.directory, $0) } }
    var directory = target.directory
    if let name = target.name { directory = try directory.directory(name) }
    for name in path.dropLast() { directory = try directory.directory(name) }
    return (directory, last)
  }

  /// Of one copy and one file: what is left of it is found again.
  func temporary(_ name: [UInt8]) -> [UInt8] {
    let names = PartNames(name, of: transfer)
    return striping.map { names.striped($0.stripe.count) } ?? names.whole
  }

  // MARK: Frames

  /// What is to be sent back: acknowledgements that are due, all of them where `isIdle`.
  package func takeOutbox(isIdle: Bool) -> [UInt8] {
    if isIdle || entries - acknowledged >= FileLimits.settled { acknowledge() }
    defer { outbox = [] }
    return outbox
  }

  func acknowledge() {
    guard failure == nil else { return }
    let bytes = writing.map { $0.file == nil ? 0 : $0.kept.count } ?? 0
    // The entry under way has its number, and is not settled.
    let settledEntries = entries
    guard settledEntries > acknowledged || bytes > lastBytes else { return }
    acknowledged = settledEntries
    lastBytes = bytes
    outbox += FileFrame.acknowledge(entry: settledEntries, bytes: bytes).encoded
  }

  private var lastBytes: UInt64 = 0

  /// Takes in what the sender says, and writes it.
  ///
  /// - Throws: the rule that it breaks.
  package func take(_ frame: FileFrame) throws(ProtocolError) {
    // What was on the way when the copy ended.
    guard failure == nil else { return }
    guard let step = try incoming.take(frame) else { return }
    switch step {
    case .totals(let files, let bytes): events.append(.totals(files: files, bytes: bytes))
    case .directory(let entry, let name, let meta): enter(entry, name, meta)
    case .leave(let meta): finishDirectory(meta)
    case .file(let entry, let name, let start): begin(entry, name, start)
    case .write(let bytes, let offset): write(bytes, at: offset)
    case .verify(let state, let offset): verify(state, at: offset)
    case .end(let end): finish(end)
    case .link(let entry, let name, let target): link(entry, name, target)
    case .missing(_, let path, let fault, let isUnderWay):
      if isUnderWay { drop() }
      let refused = isUnderWay ? refusedFile : nil
      refusedFile = nil
      isSpoiled = striping != nil
      events.append(.missing(path, refused ?? fault, isTarget: refused != nil))
      settle(path)
    case .done:
      guard failure == nil else { return }
      // Nothing at all is no copy.
      guard incoming.hasTop || after != nil else { throw .unexpectedFrame(type: frame.number) }
      if isRecursive { removePart() }
      acknowledge()
      outbox += FileFrame.finished.encoded
      isFinished = true
    case .failed(let fault): failure = (fault, incoming.directory, false)
    }
  }

  /// Why the file under way is not written; an event once it is settled, since the next stream may
  /// begin with it again after a break.
  var refusedFile: FileFault?

  /// An entry is settled. A directory that is entered again, on the way to what follows, is no
  /// news.
  func settle(_ path: FilePath, isDirectory: Bool = false) {
    entries += 1
    lastBytes = 0
    guard !isDirectory else {
      if after?.starts(with: path) != true { after = path }
      return
    }
    after = path
    // What comes before the file of the part is new in the source.
    guard let part, !path.precedes(part.path) else { return }
    if isRecursive { removePart() }
    self.part = nil
  }

  /// An entry is not written; a reason that holds for all others ends the copy.
  func refuse(
    _ entry: UInt64, _ path: FilePath, _ fault: FileFault, isUnderWay: Bool = false
  ) {
    isSpoiled = striping != nil
    guard !fault.code.endsAll else {
      acknowledge()
      failure = (fault, path, true)
      outbox += FileFrame.failed(fault).encoded
      return
    }
    outbox += FileFrame.refused(entry: entry, fault).encoded
    guard !isUnderWay else { return refusedFile = fault }
    events.append(.missing(path, fault, isTarget: true))
  }
}

extension OpenFile {
  /// Makes sure that a copy may take `name`: from a file or a symbolic link, and not from a device,
  /// a pipe or a socket, or a link to one, which other programs use by that name.
  func requireReplaceable(_ name: [UInt8]) throws(FileFault) {
    switch (try? status(of: name))?.kind {
    case .file, nil: return
    case .directory: throw FileFault(.isDirectory)
    case .link where !leadsToSpecial(name): return
    case .link, .special:
      throw FileFault(.unwritable, FileFault.specialName)
    }
  }

  /// Whether a symbolic link leads to a device, a pipe or a socket, or to where the system has
  /// them: /dev/stdout is a link to an open file of who looks.
  private func leadsToSpecial(_ name: [UInt8]) -> Bool {
    let goal = (try? target(of: name)) ?? []
    if ["/dev/", "/proc/"].contains(where: { goal.starts(with: $0.utf8) }) { return true }
    return (try? followedStatus(of: name))?.kind == .special
  }
}

extension FilePath {
  /// Whether it comes first in the order of a walk.
  func precedes(_ other: FilePath) -> Bool {
    lexicographicallyPrecedes(other) { $0.lexicographicallyPrecedes($1) }
  }
}

extension SystemFailure {
  /// Another open file has the lock.
  static let locked = SystemFailure(11)
  /// There is no name.
  static let missing = SystemFailure(2)
  /// No file can have the name.
  static let tooLong = SystemFailure(36)
}
