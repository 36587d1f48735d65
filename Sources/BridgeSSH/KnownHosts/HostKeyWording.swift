import BridgeErrors

/// What is said of a host key that is not trusted: the file and line, and what to do.
enum HostKeyWording {
  static func revoked(key: HostKey, place: KnownHosts.Place) -> String {
    "The host's \(key.typeName) key \(key.fingerprint) is marked @revoked in \(place)."
  }

  /// `known` is not empty and holds no entry equal to `key`.
  static func changed(host: KnownHostName, key: HostKey, known: [KnownHosts.Entry]) -> String {
    let shown = "The host shows the \(key.typeName) key \(key.fingerprint)"
    if let entry = known.first(where: { $0.key.type == key.type }) {
      return "\(shown), but \(entry.place) has \(entry.key.fingerprint). "
        + "If the change is expected, remove the old key: \(removal(of: entry, host: host))"
    }
    guard let entry = known.first else { return shown + "." }
    var types: [String] = []
    for name in known.map(\.key.typeName) where !types.contains(name) { types.append(name) }
    return "\(shown), but is known only by its \(types.prefix(8).joined(separator: ", ")) key "
      + "(\(entry.place)). If a new key type is expected, verify it and add it to that file, "
      + "or remove the old key: \(removal(of: entry, host: host))"
  }

  /// `ssh-keygen -R` takes whole lines; a line that stands for other hosts too is left to a person.
  private static func removal(of entry: KnownHosts.Entry, host: KnownHostName) -> String {
    guard entry.hosts.isOneName else {
      return "edit line \(entry.place.line) of \(PeerText.escaped(entry.place.file, limit: 1024))"
    }
    let file = quoted(PeerText.escaped(entry.place.file, limit: 1024))
    return "ssh-keygen -f \(file) -R \(quoted(PeerText.escaped(host.name, limit: 1024)))"
  }

  /// `text` as one word of a POSIX shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
