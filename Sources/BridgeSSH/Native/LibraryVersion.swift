package import BridgeErrors

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

  /// The version of `LIBSSH2_VERSION_NUM`: `0x010a00` is 1.10.0.
  package init(number: Int) {
    self.init(number >> 16 & 255, number >> 8 & 255, number & 255)
  }

  /// The refusal to use the library of version `running`, as `libssh2_version` gives it, in a
  /// program that was built with the headers of `built` (`LIBSSH2_VERSION_NUM`): nil where major
  /// and minor version are the same.
  ///
  /// What this module knows of packets, memory and error codes holds for one minor version.
  package static func refusal(built: Int, running: String?) -> AppError? {
    let built = LibraryVersion(number: built)
    let found = running.flatMap { LibraryVersion($0) }
    if let found, (found.major, found.minor) == (built.major, built.minor) { return nil }
    let shown = PeerText.escaped(running ?? "", limit: 64)
    return .featureUnavailable(
      feature: "SSH with libssh2 \(shown.isEmpty ? "of an unknown version" : shown) (this program "
        + "was built with libssh2 \(built): build it again on this machine, or install libssh2 "
        + "\(built.major).\(built.minor))")
  }

  /// Whether it signs and verifies RSA with SHA-2 (RFC 8332): since 1.11.0.
  package var hasRSAWithSHA2: Bool { self >= LibraryVersion(1, 11, 0) }

  /// Whether it has AES-GCM, ChaCha20-Poly1305 and encrypt-then-MAC in a form that this module
  /// knows: since 1.11.1.
  package var hasModernProtection: Bool { self >= LibraryVersion(1, 11, 1) }

  /// `1.10.0`.
  package var description: String { "\(major).\(minor).\(patch)" }

  /// Earlier versions are less.
  package static func < (left: LibraryVersion, right: LibraryVersion) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }
}
