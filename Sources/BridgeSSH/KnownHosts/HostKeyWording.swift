import BridgeErrors

/// The texts about a host key that is not trusted: the file and line, and what to do.
enum HostKeyWording {
  static func revoked(key: HostKey, location: KnownHosts.SourceLocation) -> String {
    "The host's \(key.typeName) key \(key.fingerprint) is revoked in \(location)."
  }

  /// `entry` has the host's key of the same type.
  static func changed(key: HostKey, entry: KnownHosts.Entry) -> String {
    let words =
      "The host shows the \(key.typeName) key \(key.fingerprint), "
      + "but \(entry.location) has \(entry.key.fingerprint)."
    guard !entry.hosts.isOneName, case .file = entry.location.source else { return words }
    return words + " That line is for other hosts, too: edit it by hand."
  }

  /// None of `known` has a key of the same type.
  static func newType(key: HostKey, known: [KnownHosts.Entry]) -> String {
    var types: [String] = []
    var locations: [String] = []
    for entry in known where !types.contains(entry.key.typeName) {
      types.append(entry.key.typeName)
      locations.append("\(entry.location)")
    }
    return "The host shows the \(key.typeName) key \(key.fingerprint), "
      + "but is known only by its \(types.prefix(8).joined(separator: ", ")) key "
      + "(\(locations.prefix(8).joined(separator: ", ")))."
  }

  /// The command that removes `entry`. `ssh-keygen -R` takes whole lines of files: nil for a line
  /// that stands for other hosts, too, and for what a program prints.
  static func removal(of entry: KnownHosts.Entry, host: KnownHostName) -> String? {
    guard entry.hosts.isOneName, case .file(let path) = entry.location.source else { return nil }
    let file = quoted(PeerText.escaped(path, limit: 1024))
    return "ssh-keygen -f \(file) -R \(quoted(PeerText.escaped(host.name, limit: 1024)))"
  }

  /// `text` as one word of a POSIX shell.
  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
