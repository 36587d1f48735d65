import BridgeErrors

/// What the known_hosts files say, and what follows for a key that a host shows. Pure: the texts
/// come in, a verdict goes out.
package struct KnownHosts: Sendable {
  /// A line that vouches for a key, or revokes one.
  package struct Entry: Sendable, Equatable {
    /// Whom it is about.
    package let hosts: KnownHostsField
    /// The key.
    package let key: HostKey
    /// Whether the key must never be accepted.
    package let isRevoked: Bool
    /// Where it stands.
    package let place: Place
  }

  /// A line of a file, counted from 1.
  package struct Place: Sendable, Equatable, CustomStringConvertible {
    /// The file's path.
    package let file: String
    /// The line.
    package let line: Int

    /// `file:line`, safe to print.
    package var description: String { "\(PeerText.escaped(file, limit: 1024)):\(line)" }
  }

  /// Every readable entry, in order.
  package private(set) var entries: [Entry] = []
  /// One sentence for each skipped line, with file and line; at most 100 and a count of the rest.
  package var warnings: [String] {
    guard skipped.count > Self.warningLimit else { return skipped.map(\.warning) }
    return skipped.prefix(Self.warningLimit).map(\.warning)
      + ["\(skipped.count - Self.warningLimit) more known_hosts lines were skipped"]
  }

  private var skipped: [(hosts: KnownHostsField?, matters: Bool, place: Place, warning: String)] =
    []
  private static let warningLimit = 100

  /// Nothing known.
  package init() {}

  /// Adds what `text`, the content of `file`, says. Files are asked in the order they are added.
  package mutating func add(_ text: String, file: String) {
    for (index, line) in TextLines.split(text).enumerated() {
      let place = Place(file: file, line: index + 1)
      switch KnownHostsLine(line) {
      case .blank: continue
      case .key(let hosts, let key, let revoked):
        entries.append(Entry(hosts: hosts, key: key, isRevoked: revoked, place: place))
      case .skipped(let reason, let hosts, let matters):
        skipped.append((hosts, matters, place, "\(place): \(reason); the line was skipped"))
      }
    }
  }

  /// The verdict on `blob`, the key that `host` shows.
  ///
  /// A key revoked under any name of the host is revoked. Else one equal entry is enough; else a
  /// host that is known at all has changed, also when the key is only of a type not listed for it.
  package func check(_ host: KnownHostName, blob: [UInt8]) -> HostKeyVerdict {
    guard let key = HostKey(blob: blob) else {
      return .changed(detail: "The host's key cannot be read.")
    }
    let own = entries.filter { $0.hosts.covers(host.name) }
    let inherited = host.portless.map { name in entries.filter { $0.hosts.covers(name) } } ?? []
    if let entry = (own + inherited).first(where: { $0.isRevoked && $0.key == key }) {
      return .revoked(detail: HostKeyWording.revoked(key: key, place: entry.place))
    }
    let known = own.filter { !$0.isRevoked }
    if (known + inherited).contains(where: { !$0.isRevoked && $0.key == key }) { return .trusted }
    guard known.isEmpty else {
      return .changed(detail: HostKeyWording.changed(host: host, key: key, known: known))
    }
    return .unknown(fingerprint: key.fingerprint, doubt: doubt(about: host))
  }

  /// `offered` (names of host-key algorithms, best first) with those that are known for `host`
  /// first, so that a host with several keys shows the one that can be compared.
  package func preferredTypes(for host: KnownHostName, offered: [String]) -> [String] {
    var known = entries.filter { !$0.isRevoked && $0.hosts.covers(host.name) }
    if known.isEmpty, let name = host.portless {
      known = entries.filter { !$0.isRevoked && $0.hosts.covers(name) }
    }
    let types = Set(known.map(\.key.type))
    return offered.filter { types.contains($0) } + offered.filter { !types.contains($0) }
  }

  /// Why a host that is not known should not be accepted unasked: a line that could not be read
  /// was about it, or may have been.
  private func doubt(about host: KnownHostName) -> String? {
    let names = [host.name, host.portless].compactMap(\.self)
    let line = skipped.first { line in
      line.matters && (line.hosts.map { hosts in names.contains { hosts.covers($0) } } ?? true)
    }
    return line?.warning
  }
}

/// What known_hosts says of a key.
package enum HostKeyVerdict: Sendable, Equatable {
  /// The key is known for this host.
  case trusted
  /// The host is not known. With a `doubt` (a skipped line that may have been about this host)
  /// only a person may accept the key, never a policy.
  case unknown(fingerprint: String, doubt: String?)
  /// The host is known by another key; `detail` says where, and how to remove it.
  case changed(detail: String)
  /// The key is marked as never to be accepted; `detail` says where.
  case revoked(detail: String)
}
