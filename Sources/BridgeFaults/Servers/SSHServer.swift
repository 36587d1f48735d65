/// A real OpenSSH sshd on loopback, with keys, configuration and log of its own.
///
/// Login is as the current user with `identityFile`. Stop it when done; if this process dies first,
/// a watchdog ends it.
public actor SSHServer {
  /// The port on 127.0.0.1; the same after every restart.
  public nonisolated let port: Int
  /// The user who may log in: the current one.
  public nonisolated let user: String
  /// A private key it accepts (Ed25519, no passphrase); the public one is beside it in `.pub`.
  public nonisolated let identityFile: String

  private let folder: TemporaryFolder
  private var configuration: SSHServerConfiguration
  private var server: ServerProcess?
  private var isStopped = false

  /// Makes keys, starts sshd and returns once it listens.
  ///
  /// - Throws: `cannotStart`, `notReady` with sshd's log, `fileUnusable`, `cannotListen`.
  public init(_ configuration: SSHServerConfiguration = .init()) async throws(FaultError) {
    folder = try TemporaryFolder()
    self.configuration = configuration
    identityFile = folder.file("identity")
    user = CurrentUser.name
    port = try LoopbackPort.reserve()
    do throws(FaultError) {
      try await SSHKeyMaker.make(.ed25519, name: "identity", in: folder)
      try await makeHostKeys()
      try authorizeIdentity()
      try await start()
    } catch {
      folder.remove()
      throw error
    }
  }

  /// Its host keys as lines of a known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").
  public var knownHosts: String {
    configuration.hostKeys
      .map { folder.read("\(SSHServerConfiguration.hostKeyFile($0)).pub") }
      .map { "[127.0.0.1]:\(port) \($0)" }
      .joined()
  }

  /// Whether a server here can have a password of its own: that takes root, and a kernel that lets
  /// it mount.
  public static func canReplacePasswords() async -> Bool { await MountNamespace.isAllowed() }

  /// The log of sshd (level VERBOSE), oldest first.
  public var log: String { folder.read("log") }

  /// How many processes serve sessions now: two or three a login.
  public var sessionProcesses: Int { server?.sessions.count ?? 0 }

  /// Makes another key pair that this server accepts or not.
  ///
  /// - Returns: the path of the private key.
  /// - Throws: `cannotStart`, `notReady`, `fileUnusable`.
  public func makeIdentity(
    _ type: SSHKeyType, name: String, passphrase: String = "", isAuthorized: Bool
  ) async throws(FaultError) -> String {
    try await SSHKeyMaker.make(type, passphrase: passphrase, name: name, in: folder)
    if isAuthorized {
      let keys = folder.read("authorized_keys") + folder.read("\(name).pub")
      try folder.write(keys, to: "authorized_keys")
    }
    return folder.file(name)
  }

  /// Refuses every key from now on; sessions live on.
  ///
  /// - Throws: `fileUnusable`.
  public func revokeIdentities() throws(FaultError) { try folder.write("", to: "authorized_keys") }

  /// Accepts `identityFile` again, and no other key.
  ///
  /// - Throws: `fileUnusable`.
  public func authorizeIdentity() throws(FaultError) {
    try folder.write(folder.read("identity.pub"), to: "authorized_keys")
  }

  /// Kills it with all sessions, as when the host loses power but its kernel resets the sockets.
  /// New connections are refused until `restart`.
  public func kill() async {
    let ending = server.take()
    guard var ending else { return }
    await ending.kill()
  }

  /// Ends every session abruptly; the listener stays.
  public func killSessions() { server?.signalSessions(.kill) }

  /// Stops listener and sessions where they are (SIGSTOP): sockets stay open and nothing answers.
  public func freeze() {
    server?.signalListener(.stop)
    server?.signalSessions(.stop)
  }

  /// Lets everything go on after `freeze`.
  public func thaw() {
    server?.signalSessions(.resume)
    server?.signalListener(.resume)
  }

  /// Kills it if it runs and starts it on the same port, with another configuration if given.
  ///
  /// - Throws: `cannotStart`, `notReady`, `fileUnusable`; `stopped` after `stop`.
  public func restart(_ changed: SSHServerConfiguration? = nil) async throws(FaultError) {
    guard !isStopped else { throw .stopped }
    await kill()
    if let changed { configuration = changed }
    try await makeHostKeys()
    try await start()
  }

  /// Restarts it with new host keys, as a reinstalled machine would come back.
  ///
  /// - Throws: `cannotStart`, `notReady`, `fileUnusable`; `stopped` after `stop`.
  public func swapHostKeys() async throws(FaultError) {
    for type in SSHKeyType.allCases { folder.remove(SSHServerConfiguration.hostKeyFile(type)) }
    try await restart()
  }

  /// Kills it with its sessions and removes its folder. Safe to call again.
  public func stop() async {
    isStopped = true
    await kill()
    folder.remove()
  }

  private func makeHostKeys() async throws(FaultError) {
    for type in configuration.hostKeys {
      let name = SSHServerConfiguration.hostKeyFile(type)
      if !folder.exists(name) { try await SSHKeyMaker.make(type, name: name, in: folder) }
    }
  }

  private func start() async throws(FaultError) {
    try folder.write(configuration.text(port: port, folder: folder), to: "sshd_config")
    if let banner = configuration.banner { try folder.write(banner, to: "banner") }
    CurrentUser.makePrivilegeSeparationFolder()
    let arguments = ["-D", "-f", folder.file("sshd_config"), "-E", folder.file("log")]
    if let shadow = configuration.shadow(of: user) {
      try folder.write(shadow, to: "shadow")
      server = try await ServerProcess(
        MountNamespace.program,
        MountNamespace.arguments(
          showing: folder.file("shadow"), at: MountNamespace.passwords,
          to: [SSHServerProgram.path] + arguments),
        in: folder)
    } else {
      server = try await ServerProcess(SSHServerProgram.path, arguments, in: folder)
    }
    // A stop during the start found nothing to kill yet.
    if isStopped {
      await kill()
      throw .stopped
    }
  }
}
