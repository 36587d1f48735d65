package import BridgeTransport

/// How one host is reached, verified and logged in to: configuration files, what overrules them,
/// and defaults together.
package struct HostSettings: Sendable, Equatable {
  /// The credentials that are tried before any prompt.
  package enum Identity: Sendable, Equatable {
    case keyFile(String)
    case certificateFile(String)
    /// The keys of an agent, those of `preferring` first, only those where `isLimited`.
    case agent(socketPath: String, preferring: [String], isLimited: Bool)
  }

  /// The host as it was named, by the user or by a ProxyJump.
  package var givenHost: String
  /// The remote endpoint.
  package var endpoint: Endpoint
  /// As whom.
  package var user: String
  /// The credentials to offer, in order.
  package var identities: [Identity] = []
  /// The known_hosts files and the policy.
  package var hostKeys: SSHConfiguration.HostKeys
  /// The offered algorithms.
  package var algorithms = AlgorithmOffer.standard
  /// How long the phases may take.
  package var timeouts = SSHTimeouts()
  /// Silence before a probe; zero never probes.
  package var keepalive = LivenessPolicy.defaultKeepalive
  /// How long an unresponsive link is kept before it is declared dead.
  package var deadAfter = LivenessPolicy.defaultDeadAfter
  /// What may be offered in the login, and what may be asked for.
  package var login = ClientConfig.Login()
  /// The addresses to dial.
  package var addressFamily = SSHConfiguration.AddressFamily.any
  /// Where they are dialed from.
  package var source = SSHConfiguration.Source.any
  /// The hosts to go through, the first one dialed first.
  package var jumps: [HostSettings] = []
  /// The line for the user's shell that leads to the first of `jumps`, or else to the host.
  package var proxyCommand: String?
  /// Settings that were ignored or changed, a sentence each.
  package var warnings: [String] = []
  /// Lines of ssh_config that have no effect and need none, a sentence each.
  package var notes: [String] = []
  /// The lines of ssh_config and the options that decided.
  package var entries: [ConfigEntry] = []
  /// Where each key file of them is written, by its path.
  package var identityLocations: [String: ConfigLocation] = [:]

  /// A host at `endpoint` that was named `name`; the rest has its defaults.
  package init(
    name: String, endpoint: Endpoint, user: String, hostKeys: SSHConfiguration.HostKeys
  ) {
    givenHost = name
    self.endpoint = endpoint
    self.user = user
    self.hostKeys = hostKeys
  }

  /// Resolves the host and the way to it. It blocks.
  ///
  /// - Throws: what `HostLayers` throws; `validationError` for a way in a circle, or one that is
  ///   too long.
  package static func resolve(
    _ request: HostRequest, in environment: HostEnvironment
  ) throws(ConfigFailure) -> HostSettings {
    let layers = try HostLayers(request, environment)
    var settings = layers.settings
    try settings.add(layers.all.proxy, of: request, in: environment)
    return settings
  }
}
