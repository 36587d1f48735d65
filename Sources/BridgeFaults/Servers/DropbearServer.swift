/// A real dropbear on loopback: a second opinion on what an SSH server says.
///
/// It reads authorized keys only from the user's home, which is not ours to change: where mount
/// namespaces are allowed it is shown another home, else it refuses every login.
public actor DropbearServer {
  /// The port on 127.0.0.1; the same after every restart.
  public nonisolated let port: Int

  /// The only user it lets in: the one it runs as.
  public nonisolated let user: String
  /// The private key that `user` logs in with; nil where it admits no user.
  public nonisolated let identityFile: String?

  private let folder: TemporaryFolder
  private var server: ServerProcess?

  static let program = "/usr/sbin/dropbear"

  /// Makes a host key, starts dropbear and returns once it listens.
  ///
  /// - Throws: `cannotStart`, `notReady` with dropbear's log, `fileUnusable`, `cannotListen`.
  ///
  /// - Parameters:
  ///   - admits: whether it lets `user` in, where `SSHServer.canReplacePasswords`.
  ///   - identity: the kind of key that `user` logs in with.
  public init(
    hostKey: SSHKeyType = .ed25519, admits: Bool = false, identity: SSHKeyType = .ed25519
  ) async throws(FaultError) {
    folder = try TemporaryFolder()
    port = try LoopbackPort.reserve()
    user = CurrentUser.name
    identityFile = admits ? folder.file("identity") : nil
    do throws(FaultError) {
      try await makeHostKey(hostKey)
      if admits { try await makeHome(identity) }
      try await start()
    } catch {
      folder.remove()
      throw error
    }
  }

  /// The log of dropbear, oldest first.
  public var log: String { folder.read("log") }

  /// Its host key as a line of a known_hosts file.
  public var knownHosts: String {
    let lines = folder.read("dropbearkey.log").split(separator: "\n")
    let key = lines.first { $0.hasPrefix("ssh-") || $0.hasPrefix("ecdsa-") } ?? ""
    return "[127.0.0.1]:\(port) \(key)\n"
  }

  /// Kills it with all sessions; new connections are refused until `restart`.
  public func kill() async {
    let ending = server.take()
    guard var ending else { return }
    await ending.kill()
  }

  /// Kills it if it runs and starts it on the same port.
  ///
  /// - Throws: `cannotStart`, `notReady`.
  public func restart() async throws(FaultError) {
    await kill()
    try await start()
  }

  /// Kills it with its sessions and removes its folder. Safe to call again.
  public func stop() async {
    await kill()
    folder.remove()
  }

  private func makeHostKey(_ type: SSHKeyType) async throws(FaultError) {
    var child = try ChildProcess(
      "/usr/bin/dropbearkey", ["-t", type.rawValue, "-f", folder.file("hostkey")],
      log: folder.file("dropbearkey.log"))
    guard await child.finish() else {
      throw .notReady(program: "dropbearkey", log: folder.read("dropbearkey.log"))
    }
  }

  /// A home with one key that may log in, and the accounts of a system where it is the user's.
  private func makeHome(_ identity: SSHKeyType) async throws(FaultError) {
    var child = try ChildProcess(
      "/bin/sh",
      [
        "-c",
        #"""
        umask 077 && cd "$1" && mkdir -p home/.ssh &&
        ssh-keygen -q -t "$2" -N '' -f identity && cp identity.pub home/.ssh/authorized_keys &&
        awk -F: -v OFS=: -v home="$1/home" -v uid="$(id -u)" '$3 == uid { $6 = home } 1' \
          /etc/passwd > passwd && chmod 644 passwd
        """#, "sh", folder.path, identity.rawValue,
      ], log: folder.file("home.log"))
    guard await child.finish() else {
      throw .notReady(program: "ssh-keygen", log: folder.read("home.log"))
    }
  }

  private func start() async throws(FaultError) {
    let arguments = [
      "-F", "-E", "-s", "-m", "-r", folder.file("hostkey"), "-p", "127.0.0.1:\(port)",
      "-P", folder.file("pid"),
    ]
    guard identityFile != nil else {
      return server = try await ServerProcess(Self.program, arguments, in: folder)
    }
    server = try await ServerProcess(
      MountNamespace.program,
      MountNamespace.arguments(
        showing: folder.file("passwd"), at: MountNamespace.accounts,
        to: [Self.program] + arguments), in: folder)
  }
}
