package import BridgeErrors

/// A host as it was named, and what goes before its configuration files.
package struct HostRequest: Sendable, Equatable {
  /// The host: an alias, a name or an address without brackets.
  package var host: String
  /// The user and the port that were given with it; nothing overrules them.
  package var user: String?
  package var port: Int?
  /// The user and the port of options of their own, as `-l` and `-p`.
  package var userOption: String?
  package var portOption: Int?
  /// Key files that are offered before those of the files, as `-i`.
  package var identities: [String] = []
  /// The configuration files.
  package var files = ConfigFiles.usual
  /// `KEY=VALUE` each, as `-o`: before all else but `user` and `port`.
  package var options: [String] = []
  /// The hosts to go through, as `-J`; nil where the configuration decides.
  package var jump: String?
  /// How long a login may take; nil for the default.
  package var loginTimeout: Duration?
  /// The policy for unknown host keys; nil where the files decide.
  package var hostKeyChecking: ClientConfig.HostKeyChecking?
  /// The one known_hosts file; nil where the files decide.
  package var knownHosts: String?
  /// The addresses to dial; nil where the files decide.
  package var addressFamily: SSHConfiguration.AddressFamily?
  /// Silence before a probe, and how long an unresponsive link is kept; nil where the files decide.
  package var keepalive: Duration?
  package var deadAfter: Duration?
  /// The same where nothing else decides; nil for the defaults.
  package var usualKeepalive: Duration?
  package var usualDeadAfter: Duration?
  /// The command that runs there, for `Match command`; nil for none.
  package var command: String?
  /// What runs there, in the words of `Match sessiontype`.
  package var sessionWord = "exec"

  /// A host about which the configuration says all.
  package init(_ host: String) { self.host = host }

  /// The host of `[user@]host[:port]` or `ssh://[user@]host[:port]`.
  ///
  /// - Throws: `validationError` for another text.
  package init(named text: String) throws(AppError) {
    let named = try JumpHost(text[...]) { .validationError(field: "host", message: "\($0).") }
    self.init(named.host)
    (user, port) = (named.user, named.port)
  }

  /// The request for a hop on the way to this host.
  ///
  /// As with OpenSSH, the files, the known_hosts options and the time limits hold for each hop; key
  /// files, user, port and options are for the host alone.
  func leading(to hop: JumpHost) -> HostRequest {
    var request = self
    request.host = hop.host
    (request.user, request.port) = (hop.user, nil)
    (request.userOption, request.portOption) = (hop.user, hop.port)
    request.identities = []
    request.options = []
    request.jump = nil
    return request
  }
}
