import BridgeSessionProtocol

/// What the program of `PlainScript` says of one name.
struct PlainEntry: Sendable {
  enum Kind: Sendable {
    case file
    case directory
    case link
    case special
  }

  var name: [UInt8] = []
  var target: [UInt8] = []
  var kind: Kind
  let size: UInt64
  let meta: FileMeta

  /// Mode as ls(1) prints it, size, seconds since 1970; nil for anything else.
  init?(_ words: ArraySlice<Substring>) {
    let words = Array(words)
    guard words.count >= 3, let seconds = Int64(words[2]), words[0].utf8.count >= 10 else {
      return nil
    }
    switch words[0].utf8.first {
    case UInt8(ascii: "-"): kind = .file
    case UInt8(ascii: "d"): kind = .directory
    case UInt8(ascii: "l"): kind = .link
    case _: kind = .special
    }
    // Of a device it is another number.
    guard let size = UInt64(words[1]) ?? (kind == .special ? 0 : nil) else { return nil }
    self.size = size
    meta = FileMeta(mode: PlainText.mode(words[0].utf8), seconds: seconds, nanoseconds: 0)
  }
}

/// The entries of a tree of the host in the order of `TreeWalk`: depth first, each directory by
/// name, so that a later walk goes on after an entry of an earlier one.
struct PlainWalk: Sendable {
  enum Item {
    case entry(FilePath, PlainEntry)
    case fault(FilePath, FileFault)
    case leave
  }

  private struct Level {
    let path: FilePath
    let entries: [PlainEntry]
    var index = 0
    /// What of the entry to go on after lies below this directory.
    var after: ArraySlice<[UInt8]>
  }

  let root: [UInt8]
  private let exclusion: FileExclusion
  private var levels: [Level] = []
  /// Of the directory that is entered next.
  private var below: ArraySlice<[UInt8]>

  init(_ root: [UInt8], excluding exclusion: FileExclusion, after: FilePath) {
    self.root = root
    self.exclusion = exclusion
    below = after[...]
  }

  /// Where an entry is on the host.
  func place(of path: FilePath) -> [UInt8] {
    path.isEmpty ? root : root + [FileName.slash] + path.joined
  }

  /// A directory that `next` returned last, or the top, has these entries.
  mutating func enter(_ path: FilePath, _ entries: [PlainEntry]) {
    let sorted = entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    levels.append(Level(path: path, entries: sorted, after: below))
    below = []
  }

  /// The next one; nil after the last.
  mutating func next() -> Item? {
    while let level = levels.last {
      guard level.index < level.entries.count else {
        levels.removeLast()
        return .leave
      }
      levels[levels.count - 1].index += 1
      if let item = item(level.entries[level.index], in: level) { return item }
    }
    return nil
  }

  /// Nil for what is settled, or left out.
  private mutating func item(_ entry: PlainEntry, in level: Level) -> Item? {
    below = []
    if let first = level.after.first {
      if entry.name.lexicographicallyPrecedes(first) { return nil }
      if entry.name == first {
        below = level.after.dropFirst()
      } else {
        levels[levels.count - 1].after = []
      }
    }
    let isSettled = entry.name == level.after.first && below.isEmpty
    if isSettled, entry.kind != .directory { return nil }
    let path = level.path + [entry.name]
    if exclusion.leavesOut(path, isDirectory: entry.kind == .directory) { return nil }
    guard place(of: path).count <= FileLimits.path else {
      return .fault(path, FileFault(.tooLarge))
    }
    return .entry(path, entry)
  }
}
