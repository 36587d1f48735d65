import BridgeErrors

/// One line of a known_hosts file, told apart (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
package enum KnownHostsLine: Sendable, Equatable {
  /// Empty, or a comment.
  case blank
  /// A key for some hosts; `revoked` when its marker says never to accept it.
  case key(hosts: KnownHostsField, key: HostKey, revoked: Bool)
  /// A line that is skipped. `hosts` is what it was about, where at least that can be read, and
  /// `concernsKeys` says whether it would have vouched for a plain key.
  case skipped(reason: String, hosts: KnownHostsField?, concernsKeys: Bool)

  /// The longest line that is read, in bytes.
  package static let limit = 65_536

  /// What `line` (without its newline) says.
  package init(_ line: Substring) {
    guard line.utf8.count <= Self.limit else {
      self = .skipped(reason: "the line is too long", hosts: nil, concernsKeys: true)
      return
    }
    var words = TextLines.words(line)[...]
    guard let first = words.first, !first.hasPrefix("#") else {
      self = .blank
      return
    }
    var revoked = false
    if first.hasPrefix("@") {
      words = words.dropFirst()
      let hosts = words.first.flatMap { KnownHostsField($0) }
      switch first {
      case "@revoked": revoked = true
      case "@cert-authority":
        self = .skipped(
          reason: "certificate authorities are not supported", hosts: hosts, concernsKeys: false)
        return
      default:
        self = .skipped(
          reason: "unknown marker \(PeerText.escaped(first, limit: 32))", hosts: hosts,
          concernsKeys: true)
        return
      }
    }
    self = Self.entry(words, revoked: revoked)
  }

  private static func entry(_ words: ArraySlice<Substring>, revoked: Bool) -> Self {
    let fields = Array(words)
    guard let first = fields.first, let hosts = KnownHostsField(first) else {
      return .skipped(reason: "the host field is unreadable", hosts: nil, concernsKeys: true)
    }
    guard fields.count >= 3 else {
      return .skipped(reason: "the key is missing", hosts: hosts, concernsKeys: true)
    }
    guard let key = Base64.decode(fields[2]).flatMap({ HostKey(blob: $0) }) else {
      return .skipped(reason: "the key is unreadable", hosts: hosts, concernsKeys: true)
    }
    guard key.type == fields[1] else {
      return .skipped(
        reason: "the key is not of the type it is said to be", hosts: hosts, concernsKeys: true)
    }
    return .key(hosts: hosts, key: key, revoked: revoked)
  }
}

/// The first field of a known_hosts line: patterns, or one name hidden by a hash.
package enum KnownHostsField: Sendable, Equatable {
  /// Patterns as they are written, in lower case.
  case patterns([HostPattern])
  /// `|1|salt|hash`: HMAC-SHA1 of the name under the salt.
  case hashed(salt: [UInt8], hash: [UInt8])

  /// The field written as `text`; nil for a hash that cannot be read.
  package init?(_ text: some StringProtocol) {
    guard text.hasPrefix("|") else {
      self = .patterns(
        text.split(separator: ",").map { HostPattern($0.lowercased()) }.filter { !$0.text.isEmpty })
      return
    }
    let parts = text.split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[1] == "1",
      let salt = Base64.decode(parts[2]), salt.count == Digest.sha1Length,
      let hash = Base64.decode(parts[3]), hash.count == Digest.sha1Length
    else { return nil }
    self = .hashed(salt: salt, hash: hash)
  }

  /// The field that hides `name` under `salt` (20 bytes).
  package static func hiding(_ name: String, salt: [UInt8]) -> String {
    let hash = Digest.hmacSHA1(key: salt, message: Array(name.utf8))
    return "|1|\(Base64.encode(salt))|\(Base64.encode(hash))"
  }

  /// Whether the field takes in `name` (lower case).
  package func covers(_ name: String) -> Bool {
    switch self {
    case .patterns(let patterns): patterns.match(name)
    case .hashed(let salt, let hash):
      Digest.hmacSHA1(key: salt, message: Array(name.utf8)) == hash
    }
  }

  /// Whether the field is a hash.
  package var isHashed: Bool {
    switch self {
    case .hashed: true
    case .patterns: false
    }
  }

  /// Whether it stands for exactly one name.
  package var isOneName: Bool {
    switch self {
    case .hashed: true
    case .patterns(let patterns):
      patterns.count == 1 && patterns.allSatisfy { !$0.isNegated && !$0.hasWildcard }
    }
  }
}
