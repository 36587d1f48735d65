import BridgeErrors
package import BridgeSSH
import BridgeTransport

/// A host of a diagnosis: the one that is meant, or one on the way.
package struct DoctorSite: Sendable, Equatable {
  /// Host and port, or the URL.
  package var name: String
  /// The port.
  package var port: Int
  /// As whom; nil for a WebSocket.
  package var user: String?
  /// What leads to it in place of TCP; nil where nothing does.
  package var through: String?
  /// Whether it is on the way only.
  package var isHop = false
  /// Whether TLS protects it.
  package var isSecure = false
  /// The lines and options that decided.
  package var entries: [ConfigEntry] = []
  /// Where each key file is named, by its path.
  package var identities: [String: String] = [:]
  /// What should be changed in the settings.
  package var doubts: [DoctorStep] = []

  /// A site.
  package init(name: String, port: Int) {
    self.name = name
    self.port = port
  }

  /// The line over its steps.
  package var heading: String {
    var text = PeerText.escaped(name, limit: 256)
    if let user { text += " as \(PeerText.escaped(user, limit: 128))" }
    if isHop { text += ", a jump host" }
    if let through { text += ", by \(PeerText.escaped(through, limit: 256))" }
    return text
  }

  /// The lines and options with a part in `kind`.
  package func sources(of kind: DoctorStep.Kind) -> [String] {
    let keywords = Self.keywords(of: kind)
    return entries.filter { keywords.contains($0.keyword) }.map(\.source)
  }

  /// The keywords of ssh_config with a part in `kind`.
  package static func keywords(of kind: DoctorStep.Kind) -> Set<String> {
    switch kind {
    case .resolve: ["HostName", "AddressFamily"]
    case .connect:
      ["Port", "ProxyJump", "ProxyCommand", "ConnectTimeout", "BindAddress", "BindInterface"]
    case .keyExchange: ["HostKeyAlgorithms", "KexAlgorithms", "Ciphers", "MACs"]
    case .hostKey:
      [
        "UserKnownHostsFile", "GlobalKnownHostsFile", "KnownHostsCommand", "StrictHostKeyChecking",
        "HostKeyAlias", "RevokedHostKeys",
      ]
    case .login: ["User", "IdentitiesOnly", "IdentityAgent", "PubkeyAuthentication"]
    case .config, .banner, .channel, .command, .bridgeHost, .tls, .upgrade: []
    }
  }
}

extension DoctorSite {
  /// The host of `settings`.
  package init(
    _ settings: HostSettings, typed identities: [String] = [], library: LibraryVersion = .linked
  ) {
    self.init(name: "\(settings.endpoint)", port: settings.endpoint.port)
    user = settings.user
    entries = settings.entries
    self.identities = settings.identityLocations.mapValues { "IdentityFile \($0)" }
    for path in identities { self.identities[path] = "-i" }
    if let line = settings.proxyCommand, settings.jumps.isEmpty { through = "ProxyCommand \(line)" }
    doubts = [keepaliveDoubt(settings)].compactMap(\.self) + algorithmDoubts(settings, library)
  }

  private func keepaliveDoubt(_ settings: HostSettings) -> DoctorStep? {
    guard settings.keepalive == .zero else { return nil }
    return DoctorStep(
      .config, of: name, .warning, "The keepalive is off: a link that died is not noticed.",
      sources: entries.filter { $0.keyword == "ServerAliveInterval" }.map(\.source),
      remedy: """
        Set ServerAliveInterval, or leave it out: silence of \
        \(DurationArgument.text(LivenessPolicy.defaultKeepalive)) is then probed.
        """)
  }

  /// What libssh2 has in newer versions only, or with flaws.
  private func algorithmDoubts(
    _ settings: HostSettings, _ library: LibraryVersion
  ) -> [DoctorStep] {
    let lists = entries.filter { ["Ciphers", "MACs"].contains($0.keyword) }
    return lists.compactMap { entry in
      let text = entry.words.joined(separator: ",")
      guard !text.hasPrefix("-") else { return nil }
      let names = text.split(separator: ",").map { String($0.drop { "+^".contains($0) }) }
      let kind: AlgorithmKind = entry.keyword == "Ciphers" ? .cipherToServer : .macToServer
      // A pattern asks for them, too.
      let offered = settings.algorithms[kind].filter { !names.contains($0) }
      let doubtful = (names + offered).filter { name in
        name.contains("gcm") || name.contains("chacha20") || name.contains("-etm")
      }
      guard !doubtful.isEmpty else { return nil }
      let isOffered = doubtful.contains { settings.algorithms[kind].contains($0) }
      let shown = doubtful.map { PeerText.escaped($0, limit: 64) }.joined(separator: ", ")
      let message =
        isOffered
        ? "libssh2 \(library) has known flaws with \(shown)."
        : "libssh2 \(library) has no \(shown); it is not offered."
      return DoctorStep(
        .config, of: name, .warning, message, sources: [entry.source],
        remedy: "Leave it out: aes256-ctr with hmac-sha2-256 is offered without being asked for.")
    }
  }
}

extension ConfigEntry {
  /// Keyword and place, as a diagnosis names them.
  fileprivate var source: String {
    switch location {
    case .file: "\(keyword) \(location)"
    case .option: "\(location)"
    }
  }
}
