import BridgeFiles
import BridgeSessionProtocol

/// The host's end of a copy from it, without `bridge-host`: asks `PlainScript` for one directory
/// and file after the other, and makes frames of the answers, which come in that order.
struct PlainGet: PlainEnd {
  /// What comes next in the stream, some of it after an answer of the host.
  private enum Step {
    case top
    case prefix(FilePath)
    case list(FilePath, PlainEntry)
    case file(FilePath)
    /// Needs no answer.
    case frame(FileFrame)
    case entry(@Sendable (UInt64) -> FileFrame)
  }

  /// Where in the answer to the first step.
  private enum Reading {
    case answer
    case names
    case name(PlainEntry)
    case data(end: UInt64, info: [Substring])
    case trailer(info: [Substring])
  }

  private let request: FileRequest
  private let point: FilePoint
  private var part: FilePoint.Part?
  private var input = PlainInput()
  private var steps: [Step] = []
  private var reading = Reading.answer
  /// Of the directory that is listed.
  private var names: [PlainEntry] = []
  private var walk: PlainWalk
  private var isWalked = false
  private var entries: UInt64 = 0
  private var hash = FileHash()
  private(set) var isOver = false
  /// Files that are requested ahead.
  private static let ahead = 32

  /// For the program, and for the client.
  var toHost: [UInt8] = []
  var toClient: [UInt8] = []

  init(_ request: FileRequest, at point: FilePoint, hasDigests: Bool) {
    self.request = request
    self.point = point
    part = hasDigests ? point.part : nil
    walk = PlainWalk(
      PlainText.path(request.path), excluding: request.exclusion, after: point.after ?? [])
    ask(["s", PlainText.escaped(walk.root)], .top)
  }

  private mutating func ask(_ words: [String], _ step: Step) {
    toHost += PlainText.line(words)
    steps.append(step)
  }

  private mutating func reply(_ frame: FileFrame) { toClient += frame.encoded }

  /// What the receiver acknowledges is of no use for it.
  mutating func send(_ frame: FileFrame) {}

  /// The receiver waits for nothing.
  mutating func flush() {}

  /// What the program printed.
  mutating func take(_ bytes: [UInt8]) throws(ProtocolError) {
    input.append(bytes)
    while let step = steps.first, try advance(step) {}
    guard steps.isEmpty, !input.isEmpty else { return }
    throw PlainInput.violation
  }

  /// True where another step may follow.
  private mutating func advance(_ step: Step) throws(ProtocolError) -> Bool {
    switch step {
    case .frame(let frame):
      reply(frame)
      pass()
    case .entry(let make):
      reply(make(entries))
      entries += 1
      pass()
    case .top, .prefix, .list, .file:
      switch reading {
      case .answer:
        guard let words = try input.line() else { return false }
        guard let word = words.first, word == "k" || word == "no" else {
          throw PlainInput.violation
        }
        let fault = word == "no" ? PlainText.fault(words.dropFirst(), isTarget: false) : nil
        try take(step, words.dropFirst(), fault)
      case .names: return try readName()
      case .name(let entry): return try readText(entry)
      case .data(let end, let info): return readData(end, info)
      case .trailer(let info): return try readTrailer(info)
      }
    }
    return true
  }

  /// The first step is done.
  private mutating func pass() {
    steps.removeFirst()
    reading = .answer
    goOn()
  }

  private mutating func take(
    _ step: Step, _ words: ArraySlice<Substring>, _ fault: FileFault?
  ) throws(ProtocolError) {
    switch step {
    case .top: try begin(words, fault)
    case .prefix(let path):
      let known = part.map { FileHash($0.state, count: $0.offset).digest }
      let isSame = known != nil && known == words.first.flatMap(PlainText.digest)
      if !isSame { part = nil }
      request(path, from: part?.offset ?? 0)
      pass()
    case .list(let path, let entry):
      if let fault { return skip(path.last ?? [], fault) }
      reply(.directory(entry: entries, name: path.last ?? [], entry.meta))
      entries += 1
      reading = .names
    case .file(let path):
      if let fault { return skip(path.last ?? [], fault) }
      try begin(path, words)
    case .frame, .entry: break
    }
  }

  private mutating func skip(_ name: [UInt8], _ fault: FileFault) {
    reply(.skipped(entry: entries, name: name, fault))
    entries += 1
    pass()
  }

  // MARK: The walk

  private mutating func begin(
    _ words: ArraySlice<Substring>, _ fault: FileFault?
  ) throws(ProtocolError) {
    guard fault == nil else {
      isWalked = true
      skip([], fault ?? FileFault(.notFound))
      return
    }
    guard let entry = PlainEntry(words) else { throw PlainInput.violation }
    switch entry.kind {
    case .directory where request.isRecursive: list([], entry)
    case .directory: add([], FileFault(.needsRecursion))
    case .file where point.after == []: break
    case .file: request([])
    case .link, .special: add([], FileFault(.special))
    }
    if entry.kind != .directory || !request.isRecursive { isWalked = true }
    pass()
  }

  /// Asks for what follows, as far ahead as is useful; a directory has to be listed first.
  private mutating func goOn() {
    while steps.count < Self.ahead, !isBlocked {
      guard !isWalked else { return addDone() }
      guard let item = walk.next() else {
        isWalked = true
        continue
      }
      switch item {
      case .leave: steps.append(.frame(.leave))
      case .fault(let path, let fault): add(path, fault)
      case .entry(let path, let entry):
        switch entry.kind {
        case .directory: list(path, entry)
        case .file: request(path)
        case .link:
          steps.append(
            .entry { .link(entry: $0, name: entry.name, target: entry.target) })
        case .special: add(path, FileFault(.special))
        }
      }
    }
  }

  private var isBlocked: Bool {
    switch steps.last {
    case .top, .prefix, .list: true
    case .file, .frame, .entry, nil: false
    }
  }

  private mutating func addDone() {
    guard !isOver, steps.isEmpty else { return }
    isOver = true
    reply(.done(entries: entries))
  }

  private mutating func add(_ path: FilePath, _ fault: FileFault) {
    let name = path.last ?? []
    steps.append(.entry { .skipped(entry: $0, name: name, fault) })
  }

  private mutating func list(_ path: FilePath, _ entry: PlainEntry) {
    guard path.count < FileLimits.depth else { return add(path, FileFault(.tooLarge)) }
    ask(["w", PlainText.escaped(walk.place(of: path))], .list(path, entry))
  }

  private mutating func request(_ path: FilePath) {
    guard let part, part.path == path, part.offset > 0 else { return request(path, from: 0) }
    let words = ["h", PlainText.escaped(walk.place(of: path)), "\(part.offset)"]
    ask(words, .prefix(path))
  }

  private mutating func request(_ path: FilePath, from offset: UInt64) {
    let follows = path.isEmpty ? ["-L"] : []
    ask(["g", PlainText.escaped(walk.place(of: path)), "\(offset)"] + follows, .file(path))
  }

  private mutating func readName() throws(ProtocolError) -> Bool {
    guard case .list(let path, _)? = steps.first, let words = try input.line() else { return false }
    if words == ["k"] {
      walk.enter(path, names)
      names = []
      pass()
      return true
    }
    guard words.first == "i", let entry = PlainEntry(words.dropFirst()) else {
      throw PlainInput.violation
    }
    guard names.count < FileLimits.names else { throw PlainInput.violation }
    reading = .name(entry)
    return true
  }

  private mutating func readText(_ entry: PlainEntry) throws(ProtocolError) -> Bool {
    var entry = entry
    if entry.name.isEmpty {
      guard let name = try input.text() else { return false }
      guard FileName(name) != nil else { throw PlainInput.violation }
      entry.name = name
      reading = .name(entry)
    }
    guard let target = try input.text() else { return false }
    entry.target = target
    // A target that cannot be read, or is too long, is no link.
    if entry.kind == .link, target.isEmpty || target.count > FileLimits.path {
      entry.kind = .special
    }
    names.append(entry)
    reading = .names
    return true
  }

  // MARK: Files

  private mutating func begin(
    _ path: FilePath, _ words: ArraySlice<Substring>
  ) throws(ProtocolError) {
    guard let entry = PlainEntry(words), words.count == 4,
      let offset = words.last.flatMap({ UInt64($0) }), entry.size < Limits.offset
    else { throw PlainInput.violation }
    let isPart = offset > 0 && part?.path == path && part?.offset == offset
    guard isPart || offset == 0 else { throw PlainInput.violation }
    hash = part.map { isPart ? FileHash($0.state, count: offset) : FileHash() } ?? FileHash()
    part = nil
    let start = FileStart(
      name: path.last ?? [], size: entry.size, offset: offset, meta: entry.meta, identity: [])
    reply(.file(entry: entries, start))
    let info = Array(words.prefix(3))
    reading = offset < entry.size ? .data(end: entry.size, info: info) : .trailer(info: info)
  }

  private mutating func readData(_ end: UInt64, _ info: [Substring]) -> Bool {
    let block = UInt64(FileLimits.data)
    let space = min(end - hash.count, block - hash.count % block)
    let bytes = input.bytes(Int(space))
    guard !bytes.isEmpty else { return false }
    toClient += FileFrame.dataHeader(length: bytes.count, offset: hash.count)
    toClient += bytes
    hash.add(bytes)
    if hash.count == end {
      reading = .trailer(info: info)
    } else if hash.count.isMultiple(of: block) {
      reply(.mark(offset: hash.count, state: hash.state))
    }
    return true
  }

  /// How many bytes were missing (see `PlainScript`), its digest, and what the file is now.
  private mutating func readTrailer(_ info: [Substring]) throws(ProtocolError) -> Bool {
    guard let words = try input.line() else { return false }
    guard words.first == "k", words.count >= 3 else { throw PlainInput.violation }
    let now = Array(words.dropFirst(3))
    let hasChanged = now != info
    let size = now.dropFirst().first.flatMap { UInt64($0) } ?? 0
    let digest = PlainText.digest(words[2])
    // Of what it is now, which may not be what was read.
    let isSame = digest == hash.digest
    let isCounted = !words[1].hasPrefix("-")
    let isPart = isCounted ? words[1] != "0" : hasChanged ? !isSame : words[1] != "-0"
    if size < hash.count || isCounted && isPart && hasChanged {
      reply(.skipped(entry: entries, name: [], FileFault(.shrank)))
    } else if isPart {
      let reason = hasChanged ? "it was changed while it was read" : "reading it failed on the host"
      reply(.skipped(entry: entries, name: [], FileFault(.unreadable, reason)))
    } else {
      let end = FileEnd(digest: hasChanged && !isSame ? nil : digest, hasChanged: hasChanged)
      reply(.end(size: hash.count, end))
    }
    entries += 1
    pass()
    return true
  }
}
