package import BridgeErrors

/// The known_hosts files of a user: read together, appended to one at a time.
package enum KnownHostsFile {
  /// The files that OpenSSH reads by default: the user's, then the system's.
  package static func defaults(home: String) -> [String] {
    ["\(home)/.ssh/known_hosts", "\(home)/.ssh/known_hosts2"]
      + ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]
  }

  /// What all of `paths` say about `host`, and the keys that the file at `revoked` lists. A file of
  /// `paths` that is not there says nothing; one that is there and cannot be read ends it, for it
  /// may hold the entry that matters. It blocks.
  ///
  /// - Throws: `filePermissionDenied`, `fileReadError`; `fileNotFound` for `revoked`.
  package static func load(
    _ paths: [String], revoked: String? = nil, about host: KnownHostName
  ) throws(AppError) -> KnownHosts {
    do throws(LocalFile.Unreadable) {
      return try entries(of: paths, revoked: revoked, about: host)
    } catch {
      throw error.error
    }
  }

  /// As `load`, with the `errno` of a file that cannot be read, and with what `command` prints for
  /// `purpose` behind the files.
  static func entries(
    of paths: [String], command: KnownHostsCommand? = nil,
    for purpose: KnownHostsCommand.Purpose = .order, revoked: String?, about host: KnownHostName
  ) throws(LocalFile.Unreadable) -> KnownHosts {
    var known = KnownHosts(about: host)
    for path in paths {
      guard let content = try LocalFile.content(of: path) else { continue }
      known.add(content.text, from: .file(path))
    }
    if let command {
      do throws(KnownHostsCommand.Problem) {
        let lines = try command.lines(about: host, for: purpose)
        known.add(lines, from: .command(command.program))
      } catch {
        let program = PeerText.escaped(command.program, limit: 1024)
        throw LocalFile.Unreadable(
          error: .validationError(
            field: "KnownHostsCommand", message: "\(program) \(error.reason)."), errno: error.errno)
      }
    }
    guard let revoked else { return known }
    guard let content = try LocalFile.content(of: revoked) else {
      throw LocalFile.Unreadable(error: .fileNotFound(path: revoked))
    }
    do throws(AppError) {
      try known.revoke(content.text, file: revoked)
    } catch {
      throw LocalFile.Unreadable(error: error)
    }
    return known
  }

  /// Adds `blob` as the key of `host` to the file at `path`, whole or not at all; nothing when the
  /// file has it. The name is hidden, under a salt from `generator`, where `hidesName` says so, or
  /// says nothing and the file hides names.
  ///
  /// - Throws: `validationError` for a name or key that cannot stand in a line; `fileReadError`,
  ///   `filePermissionDenied`, `fileWriteError`.
  package static func append(
    _ host: KnownHostName, blob: [UInt8], to path: String, hidesName: Bool? = nil,
    using generator: inout some RandomNumberGenerator
  ) throws(AppError) {
    guard host.isWritable, let key = HostKey(blob: blob) else {
      throw .validationError(
        field: "known_hosts",
        message: "\(PeerText.escaped(host.name, limit: 256)) cannot be added.")
    }
    let salt = (0..<Digest.sha1Length).map { _ in UInt8.random(in: 0...255, using: &generator) }
    try LocalFile.append(to: path) { old in
      KnownHostsText.addition(
        of: host, key: key, salt: salt, hidesName: hidesName, to: old?.text ?? "")
    }
  }

  /// Takes all lines out of the file at `path` that vouch for another key of `host` than `blob`, as
  /// `ssh-keygen -R` does; nothing where there are none.
  ///
  /// - Throws: `fileWriteError` where a line is for other hosts, too, and stays; `fileReadError`,
  ///   `filePermissionDenied` and `fileWriteError` of the file.
  package static func removeKeys(
    of host: KnownHostName, but blob: [UInt8], from path: String
  ) throws(AppError) {
    var shared: [Int] = []
    try LocalFile.removeLines(of: path) { content in
      let old = KnownHostsText.lines(of: host, but: blob, in: content.text)
      shared = old.filter { !$0.isAlone }.map(\.number)
      return Set(old.filter(\.isAlone).map(\.number))
    }
    guard let line = shared.first else { return }
    throw .fileWriteError(
      path: path, reason: "Line \(line) is for other hosts, too, and still has the old key.")
  }
}

/// The text of a known_hosts file for a new entry.
package enum KnownHostsText {
  /// What makes `text` say that `key` is one of `host`: nothing where it does already, else a
  /// line. Where `hidesName` says so, or says nothing and any entry hides its name, the new one
  /// does, under `salt` (20 bytes).
  package static func addition(
    of host: KnownHostName, key: HostKey, salt: [UInt8], hidesName: Bool? = nil, to text: String
  ) -> String {
    var known = KnownHosts(about: host)
    known.add(text, from: .file(""))
    guard !known.entries.contains(where: { $0.key == key && $0.isOwn && !$0.isRevoked }) else {
      return ""
    }
    let isHidden = hidesName ?? known.hasHashedNames
    let name = isHidden ? KnownHostsField.hiding(host.name, salt: salt) : host.name
    let gap = text.isEmpty || text.utf8.last == 10 ? "" : "\n"
    return "\(gap)\(name) \(key.type) \(Base64.encode(key.blob))\n"
  }

  /// The lines of `text`, from 1, that vouch for another key of `host` than `blob` under its whole
  /// name, and whether each is for it alone.
  package static func lines(
    of host: KnownHostName, but blob: [UInt8], in text: String
  ) -> [(number: Int, isAlone: Bool)] {
    var known = KnownHosts(about: host)
    known.add(text, from: .file(""))
    let others = known.entries.filter { $0.isOwn && !$0.isRevoked && $0.key.blob != blob }
    return others.map { ($0.location.line, $0.hosts.isOneName) }
  }
}
