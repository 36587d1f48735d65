/// What a sender has sent and the receiver has not settled, and where to go on without it.
package struct OutgoingFiles: Sendable {
  /// An entry under way.
  package struct Entry: Sendable, Equatable {
    /// Its path in the tree.
    package var path: FilePath
    /// Its length; nil for what is no file.
    package var size: UInt64?
    /// The offset that it began at.
    package var offset: UInt64
    package var identity: [UInt8]
    /// The check of all of it, once it was sent.
    package var digest: [UInt8]?
    /// Why it is not there.
    package var fault: FileFault?
    /// Whether the receiver found that.
    package var isRefused = false
    /// Whether it was changed while it was read.
    package var hasChanged = false
    /// What was sent before it.
    fileprivate var sent: UInt64 = 0

    package init(_ path: FilePath, size: UInt64? = nil, offset: UInt64 = 0, identity: [UInt8] = [])
    {
      self.path = path
      self.size = size
      self.offset = offset
      self.identity = identity
    }
  }

  private struct Mark {
    var entry: UInt64
    var offset: UInt64
    var state: [UInt8]
    /// What was sent until then.
    var sent: UInt64
  }

  /// What is sent, about, and what of that was acknowledged, in bytes.
  package private(set) var sent: UInt64 = 0
  package private(set) var arrived: UInt64 = 0
  /// The most that may be under way, in bytes: the pace of the link.
  package var pace = UInt64.max
  /// How far the one may be ahead of the other. After a break a stream begins with little, and
  /// each byte that arrived lets one more be under way: else one that always ends before the first
  /// answer brings nothing forward.
  private var lead = UInt64.max
  /// How large the lead becomes, until more arrived than the stream before had sent: a quarter of
  /// that. Of one that breaks after as much, most is acknowledged then, and after one that sent
  /// only what it may without an answer, less is sent each time.
  private var limit = UInt64.max
  private var lastSent: UInt64 = 0
  /// Where this stream began, and its first limit: one that brought nothing is followed by a more
  /// careful one, however much of what it sent was acknowledged.
  private var began: (point: FilePoint, limit: UInt64)?
  /// What of the newest entry is counted as sent.
  private var counted: UInt64 = 0
  /// Entries in order, the first one of number `first`.
  private var entries: [Entry] = []
  private var first: UInt64 = 0
  private var marks: [Mark] = []
  /// Of the first entry: what is written of it.
  private var acknowledged: Mark?
  /// The part that this stream began with, until its file is settled or begins elsewhere.
  private var resumed: FilePoint.Part?
  private var lastAcknowledged: (entry: UInt64, bytes: UInt64) = (0, 0)
  /// The last entry that is settled.
  package private(set) var after: FilePath?

  package init() {}

  /// Whether another entry may be sent before one is settled.
  package var hasSpaceForEntry: Bool {
    entries.count < FileLimits.entries && space > 0
  }

  /// Whether more bytes may be sent before some are acknowledged.
  package var hasSpaceForMark: Bool {
    marks.count < FileLimits.marks && space > 0
  }

  /// How much more may be under way.
  private var space: UInt64 {
    let (most, underWay) = (min(lead, pace), sent - arrived)
    return most > underWay ? most - underWay : 0
  }

  /// The longest part of a file to send at once. Of the last one that a link carried in part
  /// nothing is kept: it is no more than a quarter of what was sent before it, or as short as can
  /// be.
  package var piece: Int {
    let length = min(lead, sent / 4) / FileLimits.unit * FileLimits.unit
    return Int(min(UInt64(FileLimits.data), max(Self.leastPiece, length)))
  }

  /// The first entry that is not settled.
  package var current: FilePath? { entries.first?.path }

  /// The number of the next entry.
  package var next: UInt64 { first + UInt64(entries.count) }

  /// Whether all is settled.
  package var isEmpty: Bool { entries.isEmpty }

  /// Bytes of the first entry that the receiver has.
  package var bytes: UInt64 {
    guard let entry = entries.first else { return 0 }
    return max(entry.offset, lastAcknowledged.entry == first ? lastAcknowledged.bytes : 0)
  }

  /// Adds an entry; returns its number.
  package mutating func begin(_ entry: Entry) -> UInt64 {
    entries.append(entry)
    entries[entries.count - 1].sent = sent
    counted = entry.offset
    if entry.path == resumed?.path, entry.offset != resumed?.offset { resumed = nil }
    sent += Self.entryCost
    return next - 1
  }

  /// The state of the check in the newest entry.
  package mutating func mark(at offset: UInt64, _ state: [UInt8]) {
    guard !entries.isEmpty else { return }
    count(through: offset)
    marks.append(Mark(entry: next - 1, offset: offset, state: state, sent: sent))
  }

  private mutating func count(through offset: UInt64) {
    guard offset > counted else { return }
    sent += offset - counted
    counted = offset
  }

  /// All of the newest entry was sent.
  package mutating func end(_ digest: [UInt8], hasChanged: Bool) {
    guard let size = entries.last?.size else { return }
    count(through: size)
    entries[entries.count - 1].digest = digest
    entries[entries.count - 1].hasChanged = hasChanged
  }

  /// The newest entry is given up.
  package mutating func giveUp(_ fault: FileFault) {
    guard !entries.isEmpty else { return }
    entries[entries.count - 1].fault = fault
  }

  /// What was acknowledged of a file is of no use any more: it begins again.
  package mutating func forgetPart() {
    (acknowledged, resumed) = (nil, nil)
  }

  /// The receiver does not write an entry.
  ///
  /// - Throws: where there is none of that number.
  package mutating func refuse(_ entry: UInt64, _ fault: FileFault) throws(ProtocolError) {
    guard entry >= first, entry < next else {
      throw .wrongAcknowledgement(through: entry, sent: next)
    }
    let index = Int(entry - first)
    guard entries[index].fault == nil else { return }
    entries[index].fault = fault
    entries[index].isRefused = true
  }

  /// All below `entry` is settled, and so many bytes of it are written. Returns what was settled.
  ///
  /// - Throws: for what was never sent, or was acknowledged before.
  package mutating func acknowledge(
    _ entry: UInt64, bytes: UInt64
  ) throws(ProtocolError) -> [Entry] {
    guard entry >= first, entry <= next, entry < next || bytes == 0 else {
      throw .wrongAcknowledgement(through: entry, sent: next)
    }
    let settled = Array(entries.prefix(Int(entry - first)))
    entries.removeFirst(settled.count)
    if !settled.isEmpty { arrive(entries.first?.sent ?? sent) }
    first = entry
    if !settled.isEmpty { acknowledged = nil }
    if settled.contains(where: { $0.path == resumed?.path }) { resumed = nil }
    // A directory that was entered again is no news.
    for entry in settled where entry.size != nil || after?.starts(with: entry.path) != true {
      after = entry.path
    }
    guard bytes <= entries.first?.size ?? 0 else {
      throw .wrongAcknowledgement(through: bytes, sent: entries.first?.size ?? 0)
    }
    lastAcknowledged = (entry, bytes)
    var count = 0
    while count < marks.count, marks[count].entry < entry || isWritten(marks[count], bytes) {
      arrive(marks[count].sent)
      if marks[count].entry == entry { acknowledged = marks[count] }
      count += 1
    }
    marks.removeFirst(count)
    return settled
  }

  private mutating func arrive(_ count: UInt64) {
    guard count > arrived else { return }
    if count > lastSent { limit = .max }
    if lead < .max / 2 { lead = min(lead + count - arrived, limit) }
    arrived = count
  }

  /// About what the frames of an entry are.
  private static let entryCost: UInt64 = 256
  private static let firstLead: UInt64 = 2 * UInt64(FileLimits.data)
  /// An entry with the shortest piece: less would never be answered.
  private static let leastLead: UInt64 = entryCost + leastPiece
  private static let leastPiece: UInt64 = 4096

  private func isWritten(_ mark: Mark, _ bytes: UInt64) -> Bool {
    mark.entry == first && mark.offset <= bytes
  }

  /// Where a receiver that kept nothing in memory can go on.
  package var point: FilePoint {
    var point = FilePoint(after: after)
    guard let entry = entries.first, entry.size != nil, entry.fault == nil,
      acknowledged != nil || entry.path != resumed?.path
    else {
      point.part = resumed
      return point
    }
    point.part = FilePoint.Part(
      path: entry.path, offset: acknowledged?.offset ?? 0,
      state: acknowledged?.state ?? [UInt8](repeating: 0, count: FileLimits.state),
      identity: entry.identity)
    return point
  }

  /// A new stream goes on at `point`. Returns the entry that turned out to be settled.
  package mutating func restart(at point: FilePoint) -> Entry? {
    var settled: Entry?
    if let entry = entries.first, point.after == entry.path, after != entry.path {
      settled = entry
    }
    if sent > 0 {
      lastSent = sent
      limit = sent / 4
      if let began, began.point.isAsFar(as: point) { limit = min(limit, began.limit / 2) }
      limit = max(Self.leastLead, limit)
      lead = min(Self.firstLead, limit)
    }
    began = (point, limit)
    (sent, arrived, counted) = (0, 0, 0)
    entries = []
    marks = []
    first = 0
    lastAcknowledged = (0, 0)
    acknowledged = nil
    after = point.after
    resumed = point.part
    return settled
  }
}

extension FilePoint {
  /// Whether a stream goes on at the same byte.
  fileprivate func isAsFar(as other: FilePoint) -> Bool {
    after == other.after && part?.path == other.part?.path && part?.offset == other.part?.offset
  }
}
