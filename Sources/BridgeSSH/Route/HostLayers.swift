import BridgeErrors
import BridgeTransport

/// What the options say of a host alone, and what they say together with the files.
package struct HostLayers: Sendable {
  /// The values of `-o` alone.
  package let options: ClientConfig
  /// Those of `-o`, flags and the files.
  package let all: ClientConfig
  /// The question that they answer.
  package let query: ClientConfig.Query
  private let request: HostRequest
  private let environment: HostEnvironment

  /// Reads the configuration of a host. It blocks: files, and the commands of `Match exec`.
  ///
  /// - Throws: what `ClientConfig.resolve` throws, with where the fault is; `validationError` for a
  ///   jump host beside a ProxyCommand.
  package init(
    _ request: HostRequest, _ environment: HostEnvironment
  ) throws(ConfigFailure) {
    (self.request, self.environment) = (request, environment)
    var query = ClientConfig.Query(
      host: request.host, user: request.user, port: request.port, home: environment.home,
      localUser: environment.user, localUserID: environment.userID,
      localHost: environment.hostName, environment: environment.environment)
    query.command = request.command
    query.session = request.sessionWord
    self.query = query
    let files = environment.files
    let sources: [ClientConfig.Source] =
      switch request.files {
      case .usual: [.user("\(environment.home)/.ssh/config"), .system(environment.systemConfig)]
      case .file(let path): [.named(path)]
      case .nothing: []
      }
    // The first value wins: flags stand behind -o and before the file.
    var flags: [String] = []
    if let port = request.portOption { flags.append("Port=\(port)") }
    if let user = request.userOption { flags.append("User=\"\(user)\"") }
    // Before -o: a bastion that is asked for is not left out.
    let jump = request.jump.map { ["ProxyJump=\"\($0)\""] } ?? []
    do throws(AppError) {
      options = try ClientConfig.resolve(query, options: request.options, files: files)
      _ = try ClientConfig.resolve(query, options: jump + flags, files: files)
    } catch {
      throw ConfigFailure(error: error)
    }
    if let jump = request.jump, jump.lowercased() != "none", case .command = options.proxy {
      throw ConfigFailure(
        error: .validationError(
          field: "-J", message: "It cannot be given together with a ProxyCommand."))
    }
    do throws(AppError) {
      all = try ClientConfig.resolve(
        query, options: jump + request.options + flags, sources: sources, files: files)
    } catch {
      throw ConfigFailure(error: error, isInFile: true)
    }
  }

  /// The settings of the host without the way to it.
  package var settings: HostSettings {
    var timeouts = SSHTimeouts()
    if let limit = all.connectTimeout {
      timeouts.dial = limit
      timeouts.handshake = limit
    }
    if let limit = request.loginTimeout { timeouts.authenticate = limit }
    var settings = HostSettings(
      name: request.host, endpoint: Endpoint(host: all.hostName, port: all.port), user: all.user,
      hostKeys: hostKeys)
    settings.algorithms = all.algorithms
    settings.timeouts = timeouts
    settings.keepalive = keepalive
    settings.deadAfter = deadAfter
    settings.identities = identities
    settings.login = all.login
    settings.addressFamily = request.addressFamily ?? all.addressFamily
    settings.source = all.source
    settings.warnings = all.warnings
    settings.notes = all.notes
    settings.entries = all.entries
    settings.identityLocations = all.identityLocations
    return settings
  }

  private var hostKeys: SSHConfiguration.HostKeys {
    let files = knownHostsFiles
    // New keys go to the first file, which must not be the machine's.
    let user = files.user.isEmpty ? ["/dev/null"] : files.user
    let policy =
      options.hostKeyChecking ?? request.hostKeyChecking ?? all.hostKeyChecking ?? .ask
    let unknown: SSHConfiguration.UnknownHostKey =
      switch policy {
      case .ask: .ask
      case .acceptNew: .acceptNew
      case .strict: .refuse
      }
    var keys = SSHConfiguration.HostKeys(
      files: user + files.system, unknown: unknown, alias: all.hostKeyAlias,
      revoked: all.revokedHostKeys)
    keys.command = all.knownHostsCommand
    keys.hidesNames = all.hidesHostNames
    return keys
  }

  /// As OpenSSH does, an agent is asked for the keys of the files first, and for its others unless
  /// IdentitiesOnly says no. Those come behind files that are named, before the usual ones.
  private var identities: [HostSettings.Identity] {
    guard all.allowsPublicKeys, all.login.allows("publickey") else { return [] }
    let named = identityFiles
    let usual = ["id_ed25519", "id_ecdsa", "id_rsa"].map { "\(environment.home)/.ssh/\($0)" }
    let files = named ?? usual.filter(environment.isThere)
    var identities = files.map(HostSettings.Identity.keyFile)
    let isLimited = all.identitiesOnly == true
    if let agent = all.agentSocket, !(isLimited && files.isEmpty) {
      identities.insert(
        .agent(socketPath: agent, preferring: files, isLimited: isLimited),
        at: named == nil ? 0 : files.count)
    }
    return identities + all.certificateFiles.map(HostSettings.Identity.certificateFile)
  }

  /// The key files that are named, as with ssh those of `-i` and those of each IdentityFile; nil
  /// where the usual ones are tried.
  package var identityFiles: [String]? {
    guard !request.identities.isEmpty else { return all.identityFiles }
    var files: [String] = []
    for file in request.identities + (all.identityFiles ?? []) where !files.contains(file) {
      files.append(file)
    }
    return files
  }

  /// The known_hosts files of the user and of the machine.
  package var knownHostsFiles: (user: [String], system: [String]) {
    let usual = KnownHostsFile.defaults(home: environment.home)
    let system = all.globalKnownHostsFiles ?? usual.filter { $0.hasPrefix("/etc/") }
    // The tokens are those of the host that all layers lead to.
    if let named = options.userKnownHostsFiles {
      return (all.userKnownHostsFiles ?? named, system)
    }
    if let named = request.knownHosts { return ([named], []) }
    return (all.userKnownHostsFiles ?? usual.filter { !$0.hasPrefix("/etc/") }, system)
  }

  private var keepalive: Duration {
    options.serverAliveInterval ?? request.keepalive ?? all.serverAliveInterval
      ?? request.usualKeepalive ?? LivenessPolicy.defaultKeepalive
  }

  private var deadAfter: Duration {
    request.deadAfter ?? probingTime ?? request.usualDeadAfter ?? LivenessPolicy.defaultDeadAfter
  }

  /// OpenSSH gives up after so many unanswered probes.
  private var probingTime: Duration? {
    guard let count = all.serverAliveCountMax, let interval = all.serverAliveInterval,
      count > 0, interval > .zero
    else { return nil }
    return interval * count
  }
}
