import BridgeErrors
package import BridgeSSH

/// The variables that go to the remote side: those that SendEnv picks of this process, and those of
/// SetEnv, which come before them.
package struct RemoteEnvironment: Sendable, Equatable {
  /// The variables, each name once.
  package private(set) var variables: [EnvironmentVariable] = []
  /// Sentences about variables that were left out.
  package private(set) var warnings: [String] = []

  /// Each costs a round trip, and they are sent before anything runs.
  package static let limit = 128
  /// More does not go into one packet with the rest of a request, in bytes.
  package static let longest = 16 << 10

  /// The variables by the patterns and assignments of `config`, out of `local`.
  package init(_ config: ClientConfig, of local: [String: String]) {
    var all = config.setEnvironment.compactMap { EnvironmentVariable(assignment: $0.text) }
    let patterns = config.sentEnvironment.map(\.text)
    for (name, value) in local.sorted(by: { $0.key < $1.key })
    where !all.contains(where: { $0.name == name })
      && patterns.contains(where: { HostPattern.fits(name, $0) })
    {
      all.append(EnvironmentVariable(name, value))
    }
    // What is not UTF-8 was read with this in place of its bytes.
    let changed = all.filter { $0.assignment.unicodeScalars.contains("\u{FFFD}") }
    all.removeAll(where: changed.contains)
    for variable in changed {
      warnings.append(
        "\(PeerText.escaped(variable.name, limit: 64)) of SendEnv or SetEnv is not sent: its value "
          + "is not UTF-8")
    }
    let fitting = all.filter { $0.assignment.utf8.count <= Self.longest }
    variables = Array(fitting.prefix(Self.limit))
    let missing = all.count - variables.count
    guard missing > 0 else { return }
    warnings.append(
      "\(missing) of \(all.count) variables of SendEnv and SetEnv are not sent: at most "
        + "\(Self.limit) are, of at most \(Self.longest) bytes each")
  }

  /// The value of the variable `name`; nil where it is not sent.
  package func value(of name: String) -> String? {
    variables.first { $0.name == name }?.value
  }
}
