public import BridgeErrors
public import BridgeFaults
public import BridgeSSH
public import BridgeTransport

extension SSHConfiguration {
  /// Logs in to a server of ours with its own key.
  public init(for server: SSHServer, hostKeys: HostKeys = .anyKey) {
    self.init(
      user: server.user, credentials: [.keyFile(server.identityFile)], hostKeys: hostKeys)
  }
}

extension Connection {
  /// Runs a command and returns what it wrote, without the line feed at the end.
  ///
  /// - Throws: what ended the command or the connection; `internalError` when it is no SSH.
  public func answer(to command: String) async throws(AppError) -> String {
    guard let ssh = self as? SSHConnection else {
      throw .internalError(detail: "\(endpoint) is no SSH connection")
    }
    let channel = try await ssh.execute(command)
    var bytes: [UInt8] = []
    for try await chunk in channel.standardOutput { bytes += chunk }
    _ = try await channel.exitStatus()
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
