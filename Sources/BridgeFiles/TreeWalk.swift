import BridgeSessionProtocol

/// The entries of a tree, depth first, the names of each directory in order: so that a later walk
/// goes on after an entry of an earlier one.
final class TreeWalk {
  enum Item {
    /// A directory that was entered; an empty path is the top.
    case directory(FilePath, FileMeta)
    case leave
    /// A regular file, to be opened in its directory.
    case file(FilePath, FileStatus)
    case link(FilePath, target: [UInt8])
    case fault(FilePath, FileFault)
  }

  private struct Level {
    let directory: OpenFile
    let names: [[UInt8]]
    var index = 0
    /// What of the entry to go on after lies below this directory.
    var after: ArraySlice<[UInt8]>
  }

  private let root: [UInt8]
  private let isRecursive: Bool
  private let exclusion: FileExclusion
  private var levels: [Level] = []
  private var path: FilePath = []
  private var after: FilePath?
  private var hasBegun = false

  init(
    _ root: [UInt8], isRecursive: Bool, excluding exclusion: FileExclusion = .none,
    after: FilePath? = nil
  ) {
    self.root = root
    self.isRecursive = isRecursive
    self.exclusion = exclusion
    self.after = after
  }

  /// The next one; nil after the last.
  func next() -> Item? {
    guard hasBegun else {
      hasBegun = true
      return begin()
    }
    while let level = levels.last {
      guard level.index < level.names.count else {
        levels.removeLast()
        if !levels.isEmpty { path.removeLast() }
        return .leave
      }
      levels[levels.count - 1].index += 1
      if let item = item(level.names[level.index], in: level) { return item }
    }
    return nil
  }

  /// Opens a file that `next` returned last.
  func open(_ path: FilePath) throws(SystemFailure) -> OpenFile {
    guard let name = path.last, let level = levels.last else { return try .named(root) }
    return try level.directory.file(name)
  }

  private func begin() -> Item? {
    do throws(SystemFailure) {
      let status = try OpenFile.status(named: root)
      switch status.kind {
      case .file: return after == [] ? nil : .file([], status)
      case .special, .link: return .fault([], FileFault(.special))
      case .directory:
        guard isRecursive else { return .fault([], FileFault(.needsRecursion)) }
        return try enter(.directory(named: root), [], after ?? [])
      }
    } catch {
      return .fault([], error.ofSource)
    }
  }

  private func enter(
    _ directory: OpenFile, _ path: FilePath, _ after: some Sequence<[UInt8]>
  ) throws(SystemFailure) -> Item {
    guard levels.count < FileLimits.depth,
      let names = try directory.names(limit: FileLimits.names)
    else { return .fault(path, FileFault(.tooLarge)) }
    let meta = try directory.status().meta
    levels.append(Level(directory: directory, names: names, after: Array(after)[...]))
    self.path = path
    return .directory(path, meta)
  }

  /// Nil for what is settled, or left out.
  private func item(_ name: [UInt8], in level: Level) -> Item? {
    var below: ArraySlice<[UInt8]> = []
    if let first = level.after.first {
      if name.lexicographicallyPrecedes(first) { return nil }
      if name == first {
        below = level.after.dropFirst()
      } else {
        levels[levels.count - 1].after = []
      }
    }
    let isSettled = name == level.after.first && below.isEmpty
    let path = self.path + [name]
    do throws(SystemFailure) {
      let status = try level.directory.status(of: name)
      if exclusion.leavesOut(path, isDirectory: status.kind == .directory) { return nil }
      switch status.kind {
      case .directory: return try enter(level.directory.directory(name), path, below)
      case .file: return isSettled ? nil : .file(path, status)
      case .link:
        return isSettled ? nil : .link(path, target: try level.directory.target(of: name))
      case .special: return isSettled ? nil : .fault(path, FileFault(.special))
      }
    } catch {
      return isSettled ? nil : .fault(path, error.ofSource)
    }
  }
}
