import BridgeSessionProtocol

/// Removes what is kept of ended sessions when its time is over or the user's quota is used up.
/// Runs when a keeper leaves; a session whose lock is held is never touched.
struct Retention {
  /// How long a journal and a tombstone are kept, in seconds.
  static let tombstone: UInt64 = 7 * 24 * 3600
  /// How long a session is kept whose end is not known, after its files were used last, in seconds.
  static let abandoned: UInt64 = 30 * 24 * 3600
  /// How long a journal is kept whose output was committed.
  static let committed: UInt64 = 24 * 3600
  /// Journals of ended sessions of one user, in bytes.
  static let quota: UInt64 = 1 << 30

  let roots: [StateRoot]
  /// Seconds since 1970.
  let now: UInt64
  var quota = Retention.quota

  private struct Ended {
    var files: SessionFiles
    var at: UInt64
    var size: UInt64
    /// Whether its client has taken all of its output.
    var isCommitted: Bool
  }

  func sweep() {
    for root in roots { removeRemains(in: root) }
    let ended = SessionFiles.all(in: roots).compactMap(inspect).sorted { $0.at < $1.at }
    var total = ended.reduce(0) { $0 + $1.size }
    // What was read goes before what was not, and the oldest first. The last to end stays, however
    // large: its client had no time to read it.
    let order = ended.dropLast().filter(\.isCommitted) + ended.dropLast().filter { !$0.isCommitted }
    for session in order where total > quota {
      session.files.removeJournal()
      total -= session.size
    }
  }

  /// What a start or a removal left that was killed: no lock is held in it.
  private func removeRemains(in root: StateRoot) {
    for name in root.directory.names() where name.hasPrefix(".gone-") || name.hasPrefix(".new-") {
      guard let directory = try? Directory(name, in: root.directory) else { continue }
      let isOld = now > (directory.modified ?? now) + Self.remainsAge
      if isOld, !Self.isHeld(directory) { root.directory.removeDirectory(name) }
    }
  }

  private static func isHeld(_ directory: Directory) -> Bool {
    do throws(SystemError) {
      return try directory.openForReading("lock").isLocked()
    } catch {
      return !error.isMissing
    }
  }

  private static let remainsAge: UInt64 = 60

  /// An ended session with its journal; nil for one that lives or was removed here.
  private func inspect(_ files: SessionFiles) -> Ended? {
    guard files.life == .dead, let status = files.status() else {
      removeAbandoned(files)
      return nil
    }
    switch status.state {
    case .running: return nil
    case .claimed, .ended, .keeperDied, .rebooted: break
    }
    let at = end(of: files, status)
    if files.isMarkedForRemoval || isOver(Self.tombstone, since: at) {
      files.removeUnlessRead()
      return nil
    }
    let isCommitted = status.end != nil && status.committed == status.newest
    if isCommitted, isOver(Self.committed, since: at) { files.removeJournal() }
    return Ended(
      files: files, at: at, size: Journal(files.directory).size, isCommitted: isCommitted)
  }

  /// Removes one whose record cannot be read, or of another machine that is not seen from here,
  /// once its files were not used for long: a keeper that lives touches them each day.
  private func removeAbandoned(_ files: SessionFiles) {
    guard files.life != .alive, let used = files.directory.used, isOver(Self.abandoned, since: used)
    else { return }
    files.removeUnlessRead()
  }

  private func isOver(_ time: UInt64, since at: UInt64) -> Bool { now > at && now - at > time }

  /// When a session ended. Where that is not recorded, because its keeper died or the machine
  /// restarted, its time begins when it is found so: its files may be as old as its last output.
  private func end(of files: SessionFiles, _ status: SessionStatus) -> UInt64 {
    if let at = status.endedAt { return at }
    guard status.state != .claimed, var state = files.state else {
      return files.directory.modified ?? now
    }
    state.endedAt = now
    try? files.record(state, syncs: false)
    return now
  }
}

extension SessionFiles {
  /// Removes the output; the tombstone stays.
  func removeJournal() {
    for name in directory.names() where Journal.isFile(name) { directory.remove(name) }
  }
}
