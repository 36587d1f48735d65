/// What known_hosts says about the key that a host shows, for a diagnosis.
package struct HostKeyFinding: Sendable, Equatable {
  /// The key's type as people know it.
  package let keyType: String
  /// `SHA256:` and the base64 of the key's digest.
  package let fingerprint: String
  /// The status of the key.
  package let status: HostKeyStatus
  /// The lines that decided, each `FILE:LINE`; none for a host that is not known.
  package let lines: [String]
  /// A sentence for each line that was skipped and may be about the host.
  package let skipped: [String]

  /// Creates a finding.
  package init(
    keyType: String, fingerprint: String, status: HostKeyStatus, lines: [String] = [],
    skipped: [String] = []
  ) {
    self.keyType = keyType
    self.fingerprint = fingerprint
    self.status = status
    self.lines = lines
    self.skipped = skipped
  }
}
