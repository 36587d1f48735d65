/// One process's use of the files of a session without a keeper. While it lives they are not
/// removed; the last one to leave removes what was to be removed meanwhile.
///
/// It shares a lock on the file `live` (F_OFD_SETLK, fcntl(2)), which ends with the process.
final class SessionReading {
  private let files: SessionFiles
  private var lock: Descriptor?
  /// Its client has all of the session and wants it removed.
  var removes = false
  /// Its client was lost before it had all, and comes back: the session stays.
  var isLost = false

  init(_ files: SessionFiles) {
    self.files = files
    let file = try? files.directory.create(LiveRecord.name)
    if let file, (try? file.share()) == true { lock = file }
  }

  deinit {
    lock = nil
    guard !isLost else { return files.markForRemoval(false) }
    // Marked first: another one may leave between the two.
    if removes { files.markForRemoval() }
    if removes || files.isMarkedForRemoval { files.removeUnlessRead() }
  }
}

extension SessionFiles {
  /// A file of this name says that the session is to be removed when no process reads it.
  private static let removalMark = "remove"

  var isMarkedForRemoval: Bool { directory.info(of: Self.removalMark) != nil }

  /// Has the session removed when no process reads it, or no longer.
  func markForRemoval(_ isWanted: Bool = true) {
    guard isWanted else { return directory.remove(Self.removalMark) }
    if !isMarkedForRemoval { _ = try? directory.create(Self.removalMark) }
  }

  /// Removes the session unless a process reads it; nothing is removed under a reader.
  func removeUnlessRead() {
    let file = try? directory.create(LiveRecord.name)
    if let file, (try? file.lock()) != true { return }
    withExtendedLifetime(file) { remove() }
  }
}
