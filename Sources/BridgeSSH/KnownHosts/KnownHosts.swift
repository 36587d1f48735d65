package import BridgeErrors

/// The entries of the known_hosts files about one host, and the status of a key that it presents.
/// Pure: the texts come in, a status goes out.
///
/// Only lines about the host are kept: a file with thousands of other names costs one look at the
/// first field of each line, and no key of another host is decoded.
package struct KnownHosts: Sendable {
  /// A line about the host that vouches for a key, or revokes one.
  package struct Entry: Sendable, Equatable {
    /// The hosts it is about.
    package let hosts: KnownHostsField
    /// The key.
    package let key: HostKey
    /// Whether the key must never be accepted.
    package let isRevoked: Bool
    /// Whether it is about the host under its whole name, not only under its name without a port.
    package let isOwn: Bool
    /// Its file and line.
    package let location: SourceLocation
  }

  /// What has lines: a file, or what a program prints.
  package enum Source: Sendable, Equatable {
    /// The file with this path.
    case file(String)
    /// The program with this path (KnownHostsCommand).
    case command(String)
  }

  /// A line, counted from 1.
  package struct SourceLocation: Sendable, Equatable, CustomStringConvertible {
    /// What has it.
    package let source: Source
    /// The line.
    package let line: Int

    /// `file:line`, safe to print.
    package var description: String {
      switch source {
      case .file(let path): "\(PeerText.escaped(path, limit: 1024)):\(line)"
      case .command(let path):
        "line \(line) of KnownHostsCommand \(PeerText.escaped(path, limit: 1024))"
      }
    }
  }

  /// The host in question.
  package let host: KnownHostName
  /// Every readable entry about the host, in order.
  package private(set) var entries: [Entry] = []
  /// Whether a line, of whatever host, hides its name behind a hash.
  package private(set) var hasHashedNames = false
  /// One sentence for each skipped line that is about the host or may be, with file and line; at
  /// most 100 and a count of the rest.
  package var warnings: [String] {
    guard skipped.count > Self.warningLimit else { return skipped.map(\.warning) }
    return skipped.prefix(Self.warningLimit).map(\.warning)
      + ["\(skipped.count - Self.warningLimit) more known_hosts lines were skipped"]
  }

  private var revoked: [(key: HostKey, location: SourceLocation)] = []
  private var skipped: [(concernsKeys: Bool, warning: String)] = []
  private static let warningLimit = 100

  /// Creates an empty knowledge about `host`.
  package init(about host: KnownHostName) {
    self.host = host
  }

  /// Adds what `text`, the content of `source`, says. Sources are consulted in the order they are
  /// added.
  package mutating func add(_ text: String, from source: Source) {
    for (index, line) in TextLines.split(text).enumerated() {
      let location = SourceLocation(source: source, line: index + 1)
      switch KnownHostsLine(line, about: host) {
      case .blank: continue
      case .unrelated(let isHashed): hasHashedNames = hasHashedNames || isHashed
      case .key(let hosts, let isOwn, let key, let revoked):
        hasHashedNames = hasHashedNames || hosts.isHashed
        entries.append(
          Entry(hosts: hosts, key: key, isRevoked: revoked, isOwn: isOwn, location: location))
      case .skipped(let reason, let concernsKeys):
        skipped.append((concernsKeys, "\(location): \(reason); the line was skipped"))
      }
    }
  }

  /// Adds the keys in `text`, the content of `file`, to those that are never accepted, of whatever
  /// host: one key a line, as in a `.pub` file (ssh_config(5), RevokedHostKeys).
  ///
  /// - Throws: `fileReadError` for a line that is no key: a list that is half read would accept
  ///   what it revokes.
  package mutating func revoke(_ text: String, file: String) throws(AppError) {
    for (index, line) in TextLines.split(text).enumerated() {
      let words = TextLines.words(line)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      switch HostKey.read(type: first, base64: words.dropFirst().first) {
      case .success(let key):
        revoked.append((key, SourceLocation(source: .file(file), line: index + 1)))
      case .failure(let problem):
        throw .fileReadError(
          path: file,
          reason: "Line \(index + 1) of the revoked host keys: \(problem.reason).")
      }
    }
  }

  /// The status of `blob`, the key that the host presents.
  ///
  /// A key revoked under any name of the host, or in a list of revoked keys, is revoked. Else one
  /// equal entry that can vouch for it is enough; else the key of a host with a known key of the
  /// same type has changed.
  package func check(_ blob: [UInt8]) -> HostKeyStatus {
    guard let key = HostKey(blob: blob) else {
      return .changed(detail: "The host's key cannot be read.")
    }
    switch decision(about: key) {
    case .revoked(let location):
      return .revoked(detail: HostKeyWording.revoked(key: key, location: location))
    case .trusted: return .trusted
    case .unknown: return .unknown(fingerprint: key.fingerprint, doubt: doubt)
    case .changed(let first, _):
      return .changed(
        detail: HostKeyWording.changed(key: key, entry: first),
        removal: HostKeyWording.removal(of: first, host: host))
    case .newType(let known):
      return .newType(
        fingerprint: key.fingerprint, detail: HostKeyWording.newType(key: key, known: known))
    }
  }

  /// What decides about a key.
  private enum Decision {
    case revoked(SourceLocation)
    case trusted(Entry)
    case unknown
    /// The host has other keys of its type.
    case changed(Entry, others: [Entry])
    /// The host has keys of other types only.
    case newType([Entry])
  }

  /// As with OpenSSH, a key that is known for the name without the port counts only where nothing
  /// is known for the whole name: else the machine behind `gw:22` could stand in for `gw:2222`.
  private func decision(about key: HostKey) -> Decision {
    if let entry = entries.first(where: { $0.isRevoked && $0.key == key }) {
      return .revoked(entry.location)
    }
    if let location = revoked.first(where: { $0.key == key })?.location {
      return .revoked(location)
    }
    if let entry = vouching.first(where: { $0.key == key }) { return .trusted(entry) }
    let known = vouching.filter(\.isOwn)
    guard !known.isEmpty else { return .unknown }
    // All ECDSA curves are one type, as they are for OpenSSH.
    let same = known.filter { $0.key.typeName == key.typeName }
    return same.first.map { .changed($0, others: Array(same.dropFirst())) } ?? .newType(known)
  }

  /// The entries that can vouch for a key: those of the whole name, where it has any, else those of
  /// the name without a port.
  private var vouching: [Entry] {
    let valid = entries.filter { !$0.isRevoked }
    let own = valid.filter(\.isOwn)
    return own.isEmpty ? valid : own
  }

  /// The result of `check` with the lines that led to it.
  package func finding(about blob: [UInt8]) -> HostKeyFinding {
    let key = HostKey(blob: blob)
    return HostKeyFinding(
      keyType: key?.typeName ?? "unknown", fingerprint: key?.fingerprint ?? "",
      status: check(blob), lines: key.map { lines(deciding: $0).map(\.description) } ?? [],
      skipped: warnings)
  }

  /// The lines that decide about `key`, the first of them in words of `check`.
  private func lines(deciding key: HostKey) -> [SourceLocation] {
    switch decision(about: key) {
    case .revoked(let location): [location]
    case .trusted(let entry): [entry.location]
    case .unknown: []
    case .changed(let first, let others): ([first] + others).prefix(8).map(\.location)
    case .newType(let known): known.prefix(8).map(\.location)
    }
  }

  /// `offered` (names of host-key algorithms, best first) with those that are known for the host
  /// first, so that a host with several keys shows the one that can be compared.
  package func preferredTypes(offered: [String]) -> [String] {
    let types = Set(vouching.map(\.key.type))
    return offered.filter { types.contains($0) } + offered.filter { !types.contains($0) }
  }

  /// Why a host that is not known should not be accepted by a policy: a line that could not be
  /// read was about it, or may have been.
  private var doubt: String? { skipped.first(where: \.concernsKeys)?.warning }
}

/// The status of a host key according to known_hosts.
package enum HostKeyStatus: Sendable, Equatable {
  /// The key is known for this host.
  case trusted
  /// The host is not known. With a `doubt` (a skipped line that may have been about this host)
  /// only a person may accept the key, never a policy.
  case unknown(fingerprint: String, doubt: String?)
  /// The host is known by keys of other types only, which `detail` names. Only a person may accept
  /// the key, never a policy.
  case newType(fingerprint: String, detail: String)
  /// The host is known by another key of this type; `detail` says where, and `removal` is the
  /// command that removes it, where one does.
  case changed(detail: String, removal: String? = nil)
  /// The key is marked as never to be accepted; `detail` says where.
  case revoked(detail: String)
}
