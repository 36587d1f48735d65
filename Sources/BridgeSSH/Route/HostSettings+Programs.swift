package import BridgeErrors
import BridgeReactor

// What a program over the library needs of a host: no command line, and no run of bridgectl.
extension HostSettings {
  /// Resolves the host that a program names, and the way to it, on a thread that may block.
  ///
  /// - Parameters:
  ///   - request: what is asked about the host.
  ///   - home: the home directory; nil for that of this process.
  ///   - canAsk: whether the questions of a login can be answered.
  /// - Returns: the settings, and the environment that they hold in.
  /// - Throws: what `resolve` throws; `featureUnavailable` where only keys of FIDO devices could be
  ///   offered; `cancelled`.
  package static func lookUp(
    _ request: HostRequest, home: String?, canAsk: Bool
  ) async throws(AppError) -> (settings: HostSettings, environment: HostEnvironment) {
    // Commands of `Match exec` may take as long as prompts.
    let result = await BlockingThreads.prompts.run {
      () -> Result<(HostSettings, HostEnvironment), AppError> in
      var environment = HostEnvironment.current()
      if let home {
        environment.home = home
        environment.environment["HOME"] = home
      }
      do throws(ConfigFailure) {
        var settings = try resolve(request, in: environment)
        try settings.checkSecurityKeys { host, _ in canAsk && !host.login.isBatch }
        return .success((settings, environment))
      } catch {
        return .failure(error.error)
      }
    }
    guard let result else { throw .cancelled }
    return try result.get()
  }

  /// Adds warnings about keys of FIDO devices; where nothing else could be offered they are refused
  /// before anything is dialed. It blocks.
  ///
  /// - Parameters:
  ///   - typed: key files that were named beside the configuration.
  ///   - canAskPassword: whether a password may be had for a host; `isLast` is this one, which the
  ///     others lead to.
  /// - Throws: `featureUnavailable`.
  package mutating func checkSecurityKeys(
    typed: [String] = [], canAskPassword: (_ host: HostSettings, _ isLast: Bool) -> Bool
  ) throws(ConfigFailure) {
    for (index, host) in (jumps + [self]).enumerated() {
      let isLast = index == jumps.count
      let keys = SecurityKeys(
        host, typed: isLast ? typed : [], canAskPassword: canAskPassword(host, isLast),
        isSecurityKey: SecurityKeys.isSecurityKey)
      if let error = keys.error { throw ConfigFailure(error: error) }
      warnings += keys.warnings.filter { !warnings.contains($0) }
    }
  }

  /// The lines that say what a run of bridgectl does over its link, which here the program decides:
  /// a sentence each, with file and line.
  package var withoutEffect: [String] {
    entries.filter { entry in
      Self.ofARun.contains(entry.keyword) && !Self.neutral.contains(entry.words[0].lowercased())
    }.map { "\($0.location): \($0.keyword) has no effect on the links of a program" }
  }

  package static let ofARun: Set = [
    "ClearAllForwardings", "DynamicForward", "EscapeChar", "ExitOnForwardFailure", "ForwardAgent",
    "GatewayPorts", "LocalCommand", "LocalForward", "LogLevel", "PermitLocalCommand",
    "PermitRemoteOpen", "RemoteCommand", "RemoteForward", "RequestTTY", "SendEnv", "SessionType",
    "SetEnv", "StdinNull", "StreamLocalBindUnlink",
  ]
  /// What only runs of ssh(1) have of each other: the links of a program are its own, and miss
  /// nothing by that.
  package static let ofSharing: Set = ["ControlMaster", "ControlPath", "ControlPersist"]
  /// Values that ask for what is done anyway.
  private static let neutral: Set = ["no", "false", "none", "any", "default"]
}
