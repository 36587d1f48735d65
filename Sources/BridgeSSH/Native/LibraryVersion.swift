/// A version of libssh2, because what it can do depends on it.
package struct LibraryVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The numbers, most significant first.
  package let major, minor, patch: Int

  /// The version that is linked.
  package static var linked: LibraryVersion { LibSSH2.parsedVersion }

  /// The version `major`.`minor`.`patch`.
  package init(_ major: Int, _ minor: Int, _ patch: Int) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  /// The version in `text` as `libssh2_version` gives it: `1.10.0`, `1.11.1_DEV`.
  package init?(_ text: String) {
    let parts = text.split(separator: ".").prefix(3).map { $0.prefix { $0.isNumber } }
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    self.init(numbers[0], numbers[1], numbers[2])
  }

  /// Whether it signs and verifies RSA with SHA-2 (RFC 8332): since 1.11.0.
  package var hasRSAWithSHA2: Bool { self >= LibraryVersion(1, 11, 0) }

  /// `1.10.0`.
  package var description: String { "\(major).\(minor).\(patch)" }

  /// Earlier versions are less.
  package static func < (left: LibraryVersion, right: LibraryVersion) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }
}
