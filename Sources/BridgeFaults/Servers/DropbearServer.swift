/// A real dropbear on loopback: a second opinion on what an SSH server says.
///
/// It reads authorized keys only from the user's home, which is not ours to change: so it serves
/// everything up to authentication, and refuses that.
public actor DropbearServer {
  /// Where it listens, on 127.0.0.1; the same after every restart.
  public nonisolated let port: Int

  private let folder: TemporaryFolder
  private var server: ServerProcess?

  private static let program = "/usr/sbin/dropbear"

  /// Makes a host key, starts dropbear and returns once it listens.
  ///
  /// - Throws: `cannotStart`, `notReady` with dropbear's log, `fileUnusable`, `cannotListen`.
  public init(hostKey: SSHKeyType = .ed25519) async throws(FaultError) {
    folder = try TemporaryFolder()
    port = try LoopbackPort.reserve()
    do throws(FaultError) {
      try await makeHostKey(hostKey)
      try await start()
    } catch {
      folder.remove()
      throw error
    }
  }

  /// What dropbear logged, oldest first.
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

  private func start() async throws(FaultError) {
    server = try await ServerProcess(
      Self.program,
      [
        "-F", "-E", "-s", "-m", "-r", folder.file("hostkey"), "-p", "127.0.0.1:\(port)",
        "-P", folder.file("pid"),
      ], in: folder)
  }
}
