package import BridgeErrors

/// What is said before a dial about keys that live on a FIDO device (sk-): only an ssh-agent that
/// holds one has it sign.
package struct SecurityKeys: Sendable, Equatable {
  /// The error that ends the run before anything is dialed; nil where something else may do.
  package private(set) var error: AppError?
  /// A sentence for each key file that is passed over.
  package private(set) var warnings: [String] = []

  /// - Parameters:
  ///   - settings: those of one host.
  ///   - typed: the key files of the command line. One of those is refused whatever else there is.
  ///   - canAskPassword: whether a password may be had.
  ///   - isSecurityKey: whether a file holds such a key, or its public half.
  package init(
    _ settings: HostSettings, typed: [String], canAskPassword: Bool,
    isSecurityKey: (String) -> Bool
  ) {
    // It may hold them.
    if settings.identities.contains(where: \.isAgent) { return }
    var others = canAskPassword
    var first: String?
    for identity in settings.identities {
      guard case .keyFile(let path) = identity, isSecurityKey(path) else {
        others = true
        continue
      }
      let shown = PeerText.escaped(path, limit: 1024)
      let name = "The security key \(shown) (sk-) without an ssh-agent that holds it (ssh-add)"
      if typed.contains(path) { error = error ?? .featureUnavailable(feature: name) }
      let place = settings.identityLocations[path].map { " (\($0))" } ?? ""
      first = first ?? name + place
      warnings.append(
        "\(shown) is a security key (sk-), which is used through an ssh-agent that holds it "
          + "(ssh-add); it is not offered\(place)"
      )
    }
    if let first, !others { error = error ?? .featureUnavailable(feature: first) }
    if error != nil { warnings = [] }
  }

  /// Whether the file at `path` holds such a key, or its public half. It blocks.
  package static func isSecurityKey(_ path: String) -> Bool {
    switch KeyFile.read(path) {
    case .success(let info): info.kind == .securityKey
    case .failure(let problem):
      problem.publicBlob.flatMap { HostKey(blob: $0) }?.type.hasPrefix("sk-") == true
    }
  }
}

extension HostSettings.Identity {
  /// Whether it is an ssh-agent.
  fileprivate var isAgent: Bool { if case .agent = self { true } else { false } }
}
