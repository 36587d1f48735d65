/// One host pattern of known_hosts or ssh_config: `*` any text, `?` any one character, a leading
/// `!` negates (ssh_config(5), PATTERNS).
package struct HostPattern: Sendable, Equatable {
  /// True when a match excludes the host.
  package let isNegated: Bool
  /// The pattern without its `!`.
  package let text: String

  /// The pattern written as `text`.
  package init(_ text: some StringProtocol) {
    isNegated = text.hasPrefix("!")
    self.text = String(isNegated ? text.dropFirst() : text[...])
  }

  /// True when the pattern names more than one host.
  package var hasWildcard: Bool { text.contains { $0 == "*" || $0 == "?" } }

  /// Whether `name` fits, byte for byte, negation left aside. Never more than name × pattern
  /// steps, however many stars there are.
  package func fits(_ name: String) -> Bool {
    Self.fits(name, text)
  }

  /// Whether `name` fits `pattern`, in which `!` has no meaning.
  package static func fits(_ name: String, _ pattern: String) -> Bool {
    let pattern = Array(pattern.utf8)
    let name = Array(name.utf8)
    var at = 0
    var next = 0
    var retry: (pattern: Int, name: Int)?
    while at < name.count {
      if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
        next += 1
        retry = (next, at)
      } else if next < pattern.count,
        pattern[next] == name[at] || pattern[next] == UInt8(ascii: "?")
      {
        next += 1
        at += 1
      } else if let last = retry {
        next = last.pattern
        at = last.name + 1
        retry = (next, at)
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}

extension Collection<HostPattern> {
  /// Whether a list of patterns takes in `name`: one must fit and no negated one may.
  package func match(_ name: String) -> Bool {
    var matched = false
    for pattern in self where pattern.fits(name) {
      if pattern.isNegated { return false }
      matched = true
    }
    return matched
  }
}
