/// The name under which a host is looked up in known_hosts: `host`, `[host]:port` for a port other
/// than 22, or an alias as it is. Always lower case.
package struct KnownHostName: Sendable, Hashable {
  /// The name to find.
  package let name: String
  /// The name without its port, where it had one: as with OpenSSH, a key known for it is trusted
  /// where no key is known for the whole name.
  package let portless: String?

  /// The name of `host` at `port`; with an `alias` (HostKeyAlias) that name alone.
  package init(host: String, port: Int, alias: String? = nil) {
    let host = host.lowercased()
    if let alias {
      name = alias.lowercased()
      portless = nil
    } else if port == 22 {
      name = host
      portless = nil
    } else {
      name = "[\(host)]:\(port)"
      portless = host
    }
  }

  /// Whether it can stand in a known_hosts line: not empty, at most 1,024 bytes, and none of the
  /// characters that have a meaning there.
  package var isWritable: Bool {
    !name.isEmpty && name.utf8.count <= 1024 && !name.hasPrefix("|") && !name.hasPrefix("@")
      && !name.hasPrefix("#")
      && name.utf8.allSatisfy { $0 > 32 && $0 != 127 && !Self.special.contains($0) }
  }

  private static let special = Set(",*?!".utf8)
}
