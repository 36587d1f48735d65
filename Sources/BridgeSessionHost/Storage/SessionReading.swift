import BridgeSessionProtocol

/// One process's use of the files of a session without a keeper. While it lives they are not
/// removed; the last one to leave removes what was to be removed meanwhile.
///
/// It shares a lock on the file `live` (F_OFD_SETLK, fcntl(2)), which ends with the process.
final class SessionReading {
  /// How its client leaves.
  enum Leaving {
    /// It has what it wanted, or has wanted nothing.
    case done
    /// It has all of the session and wants it removed.
    case removes(ClientID?)
    /// It was lost before it had all, and comes back: the session stays, unless it has come back
    /// and had it removed. A link may be half open for hours.
    case lost(ClientID?)
  }

  private let files: SessionFiles
  private var lock: Descriptor?
  var leaving = Leaving.done

  init(_ files: SessionFiles) {
    self.files = files
    let file = try? files.directory.create(LiveRecord.name)
    if let file, (try? file.share()) == true { lock = file }
  }

  deinit {
    lock = nil
    switch leaving {
    case .done: if files.isMarkedForRemoval { files.removeUnlessRead() }
    case .removes(let client):
      // Marked first: another one may leave between the two.
      files.markForRemoval(by: client)
      files.removeUnlessRead()
    case .lost(let client):
      guard let client, files.isMarkedForRemoval(by: client) else { return files.keep() }
      files.removeUnlessRead()
    }
  }
}

extension SessionFiles {
  /// A file of this name says that the session is to be removed when no process reads it; in it is
  /// the client that wants that, where it has a name.
  private static let removalMark = "remove"

  var isMarkedForRemoval: Bool { directory.info(of: Self.removalMark) != nil }

  /// Whether this client has wanted it removed.
  func isMarkedForRemoval(by client: ClientID) -> Bool {
    let name = Array("\(client)".utf8)
    return (try? directory.read(Self.removalMark, limit: name.count)) == name
  }

  /// Has the session removed when no process reads it.
  func markForRemoval(by client: ClientID? = nil) {
    guard let mark = try? directory.create(Self.removalMark), let client else { return }
    // On a full disk it counts as one without a name.
    try? mark.write(Array("\(client)".utf8), at: 0)
  }

  /// Has it removed no longer.
  func keep() { directory.remove(Self.removalMark) }

  /// Removes the session unless a process reads it; nothing is removed under a reader.
  func removeUnlessRead() {
    let file = try? directory.create(LiveRecord.name)
    if let file, (try? file.lock()) != true { return }
    withExtendedLifetime(file) { remove() }
  }
}
