import BridgeFiles
import BridgeSessionProtocol

/// The host's end of a copy to it, without `bridge-host`: frames become requests to `PlainScript`,
/// its answers frames. The answers come in the order of the requests.
struct PlainPut: PlainEnd {
  private enum Awaited {
    case target
    case part
    /// Of a request that settles nothing.
    case passed(entry: UInt64)
    case written(entry: UInt64, UInt64)
    /// With the mode that a directory is to have; nil where it has its own, or was entered before.
    case settled(entry: UInt64, FileMeta? = nil)
    case done(entries: UInt64)
  }

  private struct Writing {
    var entry: UInt64
    var start: FileStart
    var offset: UInt64
  }

  private let request: FileRequest
  private var awaited: [Awaited] = []
  private var input = PlainInput()
  private var isInside = false
  /// The name of the top; nil where the destination itself is it.
  private var top: [UInt8]?
  /// The directories that were entered.
  private var levels: [(name: [UInt8]?, meta: FileMeta)] = []
  private var writing: Writing?
  private var pending: [UInt8] = []
  private(set) var isOver = false
  private static let batch = 4 * PlainScript.block
  /// Comes back with the next stream of a copy. The boot of the host is of no use: what is there is
  /// compared.
  static let boot = Array("tools".utf8)

  /// For the program, and for the client.
  var toHost: [UInt8] = []
  var toClient: [UInt8] = []

  init(_ request: FileRequest) {
    self.request = request
    let path = PlainText.path(request.path)
    let force = request.point?.isInside.map { $0 ? "i" : "o" } ?? "-"
    let parent = PlainText.path(FileTarget.split(request.path).directory)
    send(["o", PlainText.escaped(path), PlainText.escaped(parent), force], .target)
  }

  private mutating func send(_ words: [String], _ awaited: Awaited, _ data: [UInt8] = []) {
    toHost += PlainText.line(words)
    toHost += data
    self.awaited.append(awaited)
  }

  private mutating func reply(_ frame: FileFrame) { toClient += frame.encoded }

  private mutating func fail(_ fault: FileFault) {
    isOver = true
    reply(.failed(fault))
  }

  // MARK: The client

  /// A frame of the sender.
  mutating func send(_ frame: FileFrame) throws(ProtocolError) {
    switch frame {
    case .directory(let entry, let name, let meta): enter(entry, name, meta)
    case .leave: finishDirectory()
    case .file(let entry, let start): begin(entry, start)
    case .data(_, let bytes):
      pending += bytes
      if pending.count >= Self.batch { flush() }
    case .end(let size, let end): finish(size, end)
    case .link(let entry, let name, let target):
      let words = [PartNames(name, of: request.transfer).whole, name, target]
      send(["l"] + words.map(PlainText.escaped), .settled(entry: entry))
    case .skipped(let entry, _, _):
      let isUnderWay = writing?.entry == entry
      if isUnderWay { (writing, pending) = (nil, []) }
      send([isUnderWay ? "a" : "k"], .settled(entry: entry))
    case .done(let entries): send(["z"], .done(entries: entries))
    case .failed:
      // Of a copy that will not go on nothing stays.
      (writing, pending) = (nil, [])
      send(["a"], .passed(entry: 0))
      send(["z"], .passed(entry: 0))
    case .totals, .mark: break
    case .open, .ready, .acknowledge, .refused, .finished, .site:
      throw .unexpectedFrame(type: frame.number)
    }
  }

  private mutating func enter(_ entry: UInt64, _ name: [UInt8], _ meta: FileMeta) {
    let own = levels.isEmpty ? top : name
    levels.append((own, meta))
    guard let own else { return send(["k"], .settled(entry: entry)) }
    let path = levels.dropFirst().compactMap(\.name)
    let isNews = request.point?.after?.starts(with: path) != true
    let left = isContinued ? [PlainText.letters(meta), "\(meta.seconds)"] : []
    send(["m", PlainText.escaped(own)] + left, .settled(entry: entry, isNews ? meta : nil))
  }

  /// A directory that is complete gets its own mode and time; the destination has them.
  private mutating func finishDirectory() {
    guard let level = levels.popLast(), let name = level.name else { return }
    let words = [PlainText.escaped(name), PlainText.mode(level.meta), level.meta.touchTime]
    send(["x"] + words, .passed(entry: 0))
  }

  private mutating func begin(_ entry: UInt64, _ start: FileStart) {
    // Without a name it is where the destination is a directory, which is refused there.
    let own = (levels.isEmpty ? top : start.name) ?? [UInt8(ascii: ".")]
    writing = Writing(entry: entry, start: start, offset: start.offset)
    let temporary = PartNames(own, of: request.transfer).whole
    let words = ["f", PlainText.escaped(temporary), PlainText.escaped(own), "\(start.offset)"]
    send(words + (mayBePart(entry) ? ["y"] : []), .passed(entry: entry))
  }

  /// Whether a stream of this copy came before, also where nothing that it sent was answered.
  private var isContinued: Bool { request.point?.boot == Self.boot }

  /// Whether the stream before may have begun this file: it sent so many entries ahead.
  private func mayBePart(_ entry: UInt64) -> Bool {
    isContinued && request.isRecursive && entry < FileLimits.entries + FileLimits.depth
  }

  /// What was held back to be sent in fewer pieces.
  mutating func flush() {
    guard var current = writing, !pending.isEmpty else { return }
    current.offset += UInt64(pending.count)
    writing = current
    let done = Awaited.written(entry: current.entry, current.offset)
    send(["b", "\(pending.count)"], done, pending)
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func finish(_ size: UInt64, _ end: FileEnd) {
    flush()
    guard let current = writing else { return }
    writing = nil
    let meta = current.start.meta
    let digest = end.digest.map(Hexadecimal.text) ?? "-"
    send(
      ["e", PlainText.mode(meta), meta.touchTime, "\(size)", digest],
      .settled(entry: current.entry))
  }

  // MARK: The host

  /// What the program printed.
  mutating func take(_ bytes: [UInt8]) throws(ProtocolError) {
    input.append(bytes)
    while !isOver, let words = try input.line() {
      if words.first == "end" {
        return fail(PlainText.fault(words.dropFirst(), isTarget: true))
      }
      guard !awaited.isEmpty, let word = words.first, word == "k" || word == "no" else {
        throw PlainInput.violation
      }
      let fault = word == "no" ? PlainText.fault(words.dropFirst(), isTarget: true) : nil
      try take(awaited.removeFirst(), words.dropFirst(), fault)
    }
  }

  private mutating func take(
    _ awaited: Awaited, _ words: ArraySlice<Substring>, _ fault: FileFault?
  ) throws(ProtocolError) {
    switch awaited {
    case .target:
      if fault != nil {
        let isMissing = words.first == "missing"
        let text = isMissing ? FileFault.noDirectory : fault?.text ?? ""
        return fail(FileFault(.unwritable, text))
      }
      try open(isInside: words.first == "i")
    case .part: try ready(words)
    case .passed(let entry): refuse(entry, fault)
    case .written(let entry, let offset):
      reply(.acknowledge(entry: entry, bytes: offset))
    case .settled(let entry, let meta):
      refuse(entry, fault ?? Self.otherMode(words.first, insteadOf: meta))
      if !isOver { reply(.acknowledge(entry: entry + 1, bytes: 0)) }
    case .done:
      isOver = true
      reply(.finished)
    }
  }

  /// A directory of another owner has this mode.
  private static func otherMode(_ letters: Substring?, insteadOf meta: FileMeta?) -> FileFault? {
    guard let letters, let meta else { return nil }
    let own = FileMeta(mode: PlainText.mode(letters.utf8), seconds: 0, nanoseconds: 0)
    guard !own.hasMode(of: meta) else { return nil }
    return FileFault(.unwritable, FileReceiver.otherOwner)
  }

  private mutating func refuse(_ entry: UInt64, _ fault: FileFault?) {
    guard let fault else { return }
    guard !fault.code.endsAll else { return fail(fault) }
    reply(.refused(entry: entry, fault))
  }

  /// The destination is known: what is there of the file that was under way?
  private mutating func open(isInside: Bool) throws(ProtocolError) {
    self.isInside = isInside
    let last = FileTarget.split(request.path).name
    top = isInside ? request.name : last
    let isNamed = last.map { FileName($0) != nil } ?? false
    guard isInside || isNamed else {
      return fail(FileFault(.unwritable, FileFault.noDirectory))
    }
    if !isInside, !request.isRecursive, request.path.last == FileName.slash {
      return fail(FileFault(.notDirectory))
    }
    guard let path = request.point?.part?.path, let name = path.last ?? top else {
      return ready(nil)
    }
    let above = path.isEmpty ? [] : [top].compactMap(\.self) + path.dropLast()
    let place = above + [PartNames(name, of: request.transfer).whole]
    send(["q", PlainText.escaped(PlainText.path(place.joined))], .part)
  }

  private mutating func ready(_ words: ArraySlice<Substring>) throws(ProtocolError) {
    guard let size = words.first.flatMap({ UInt64($0) }), size < Limits.offset,
      size.isMultiple(of: UInt64(PlainScript.block)), let path = request.point?.part?.path
    else { throw PlainInput.violation }
    guard size > 0, let digest = words.dropFirst().first.flatMap(PlainText.digest) else {
      return ready(nil)
    }
    ready(.init(path: path, offset: size, state: digest))
  }

  private mutating func ready(_ part: FilePoint.Part?) {
    var point = FilePoint(after: request.point?.after, part: part, boot: Self.boot)
    point.isInside = isInside
    reply(.ready(point))
  }
}
