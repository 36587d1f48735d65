import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// The facts about the local machine that the settings of a host depend on.
package struct HostEnvironment: Sendable {
  /// The home directory, without a slash at its end.
  package var home: String
  /// The local user.
  package var user: String
  /// The local user's number.
  package var userID: UInt32
  /// This machine's name.
  package var hostName: String
  /// The environment's variables.
  package var environment: [String: String]
  /// Whether a file is there; one that cannot be read is named when its turn comes.
  package var isThere: @Sendable (String) -> Bool
  /// How configuration files are reached.
  package var files: ClientConfig.Files
  /// The machine's configuration file.
  package var systemConfig: String

  /// Creates an environment from these values.
  package init(
    home: String, user: String, userID: UInt32, hostName: String,
    environment: [String: String] = [:],
    isThere: @escaping @Sendable (String) -> Bool, files: ClientConfig.Files,
    systemConfig: String = ClientConfig.Source.systemPath
  ) {
    self.home = home
    self.user = user
    self.userID = userID
    self.hostName = hostName
    self.environment = environment
    self.isThere = isThere
    self.files = files
    self.systemConfig = systemConfig
  }

  /// That of this process.
  package static func current() -> HostEnvironment {
    var files = ClientConfig.Files.local
    // A file is read more than once; what a command of it says holds for the whole lookup.
    let known = Mutex([String: Result<Bool, ShellCondition.Problem>]())
    files.execute = { command, shell in
      if let result = known.withLock({ $0[command] }) { return result }
      let result = ShellCondition.holds(command, shell: shell)
      known.withLock { $0[command] = result }
      return result
    }
    let own = ProcessIdentity.current()
    return HostEnvironment(
      home: own.home, user: own.user, userID: own.userID, hostName: own.hostName,
      environment: own.variables, isThere: { LocalFile.absence(of: $0) == nil }, files: files)
  }
}
