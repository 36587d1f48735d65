import BridgeErrors

/// One line of a known_hosts file, told apart (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
package enum KnownHostsLine: Sendable, Equatable {
  /// Empty, or a comment.
  case blank
  /// A line about other hosts; `isHashed` when it hides their name.
  case unrelated(isHashed: Bool)
  /// A key of the host; `isOwn` when its whole name is meant, not only the one without a port, and
  /// `revoked` when its marker says never to accept the key.
  case key(hosts: KnownHostsField, isOwn: Bool, key: HostKey, revoked: Bool)
  /// A line that is skipped. It is about the host, or that cannot be read either; `concernsKeys`
  /// says whether it would have vouched for a plain key.
  case skipped(reason: String, concernsKeys: Bool)

  /// The longest line that is read, in bytes.
  package static let limit = 65_536

  /// What `line` (without its newline) says about `host`.
  package init(_ line: Substring, about host: KnownHostName) {
    guard line.utf8.count <= Self.limit else {
      self = .skipped(reason: "the line is too long", concernsKeys: true)
      return
    }
    var fields = TextLines.words(line)
    guard let first = fields.first, !first.hasPrefix("#") else {
      self = .blank
      return
    }
    let marker = first.hasPrefix("@") ? fields.removeFirst() : nil
    guard let hosts = fields.first.flatMap({ KnownHostsField($0) }) else {
      self = Self.skipped(for: marker, "the host field is unreadable")
      return
    }
    let isOwn = hosts.covers(host.name)
    guard isOwn || host.portless.map(hosts.covers) == true else {
      self = .unrelated(isHashed: hosts.isHashed)
      return
    }
    guard marker == nil || marker == "@revoked" else {
      self = Self.skipped(for: marker, "")
      return
    }
    switch HostKey.read(type: fields.dropFirst().first, base64: fields.dropFirst(2).first) {
    case .success(let key):
      self = .key(hosts: hosts, isOwn: isOwn, key: key, revoked: marker != nil)
    case .failure(let problem):
      self = .skipped(reason: problem.reason, concernsKeys: true)
    }
  }

  private static func skipped(for marker: Substring?, _ reason: String) -> Self {
    switch marker {
    case "@cert-authority":
      .skipped(reason: "certificate authorities are not supported", concernsKeys: false)
    case nil, "@revoked": .skipped(reason: reason, concernsKeys: true)
    case let other?:
      .skipped(
        reason: "unknown marker \(PeerText.escaped(other, limit: 32))", concernsKeys: true)
    }
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
