package import BridgeErrors
import BridgeSSH

extension ConnectRequest {
  /// Creates a request for ssh(1).
  ///
  /// - Parameters:
  ///   - ssh: its command line.
  ///   - command: the bytes of the command, or of the subsystem's name; none for a shell.
  ///   - home: the home directory, for `~/` in the names of key files.
  /// - Throws: `validationError`.
  package init(
    _ ssh: SSHArguments, command bytes: [UInt8], home: String
  ) throws(AppError) {
    host = try HostArgument(name: ssh.host)
    identities = try Self.paths(ssh.identities, field: "-i").map {
      $0.hasPrefix("~/") ? home + $0.dropFirst() : $0
    }
    config = try Self.paths(ssh.config.map { [$0] } ?? [], field: "-F").first
    // As with OpenSSH, what is carried stands alone, unless an option says otherwise.
    options =
      ssh.options
      + (ssh.carried == nil ? [] : ["ExitOnForwardFailure=yes", "ClearAllForwardings=yes"])
    terminal = .automatic
    isIdle = ssh.isIdle || ssh.carried != nil
    loudness = .normal
    recovery = Recovery()
    recovery.retries = .upTo(0)
    isJSON = false
    color = .never
    isBatch = false
    durability = .never
    start = StartRequest()
    jump = ssh.jump
    logFile = try Self.paths(ssh.logFile.map { [$0] } ?? [], field: "-E").first
    carried = ssh.carried
    control = ssh.control
    forwards = carried == nil ? ssh.forwards : nil
    isSSH = true
    // A program may drive it, and expect what ssh shows.
    screen.prediction = .never
    takesSession = true
    guard !bytes.isEmpty else { return }
    let program =
      ssh.isSubsystem
      ? try RemoteProgram(subsystem: bytes) : try RemoteProgram(command: bytes)
    self.program = program
    command = program.text
  }

  /// What runs, in the words of `Match sessiontype`.
  var sessionWord: String {
    if isIdle { return "none" }
    return (program?.request ?? (command == nil ? .shell : .exec)).rawValue
  }

  /// What is started on the host.
  ///
  /// - Throws: `validationError` for a command that cannot be sent.
  func startedProgram() throws(AppError) -> RemoteProgram {
    if let program { return program }
    guard let command else { return .shell }
    return try RemoteProgram(command: Array(command.utf8))
  }
}
