import BridgeErrors

/// The first value of each keyword, checked, with the place it came from where tokens are still to
/// be replaced.
struct ConfigSettings {
  typealias Text = (text: String, location: ConfigReader.SourceLocation)

  var hostName: Text?
  var user: String?
  var port: Int?
  var identityFiles: [Text]?
  var identitiesOnly: Bool?
  var identityAgent: Text?
  var allowsPublicKeys: Bool?
  var userKnownHostsFiles: [Text]?
  var globalKnownHostsFiles: [Text]?
  var revokedHostKeys: Text?
  var algorithms: [ConfigSetting: (request: AlgorithmRequest, name: String, value: Text)] = [:]
  var hostKeyChecking: ClientConfig.HostKeyChecking?
  var connectTimeout: Duration?
  var serverAliveInterval: Duration?
  var serverAliveCountMax: Int?
  var hostKeyAlias: String?
  var requestTTY: ClientConfig.TTY?
  var logLevel: ClientConfig.LogLevel?
  /// LocalForward and DynamicForward, all of them, in order.
  private(set) var forwards: [ForwardRule] = []
  var gatewayPorts: Bool?
  var exitOnForwardFailure: Bool?
  var clearsForwards: Bool?
  /// The first of ProxyJump and ProxyCommand; with an empty text for `none`.
  private(set) var proxy: (setting: ConfigSetting, name: String, value: Text)?

  /// As many as OpenSSH reads (SSH_MAX_IDENTITY_FILES).
  private static let identityLimit = 100

  static func bad(_ name: String, _ reason: String, _ location: ConfigReader.SourceLocation)
    -> AppError
  {
    .validationError(field: PeerText.escaped(name, limit: 64), message: "\(reason) (\(location))")
  }

  /// Checks `values`, and keeps them unless an earlier line has set `setting`. Returns a warning
  /// where a value is not taken as it is meant.
  mutating func set(
    _ setting: ConfigSetting, _ values: [String], name: String,
    location: ConfigReader.SourceLocation
  ) throws(AppError) -> String? {
    let value = values[0]
    let refuse = { (reason: String) in Self.bad(name, reason, location) }
    switch setting {
    case .hostName:
      if let reason = ConfigValue.hostProblem(value) { throw refuse(reason) }
      keep((value, location), in: \.hostName)
    case .user: keep(try ConfigValue.plain(value, refuse), in: \.user)
    case .port: keep(try ConfigValue.port(value, refuse), in: \.port)
    case .identityFile: try addIdentity((value, location), refuse)
    case .identitiesOnly: keep(try ConfigValue.flag(value, refuse), in: \.identitiesOnly)
    case .identityAgent: keep((value, location), in: \.identityAgent)
    case .pubkeyAuthentication:
      keep(try ConfigValue.publicKeys(value, refuse), in: \.allowsPublicKeys)
    case .userKnownHostsFile: keep(Self.files(values, location), in: \.userKnownHostsFiles)
    case .globalKnownHostsFile: keep(Self.files(values, location), in: \.globalKnownHostsFiles)
    case .revokedHostKeys: keep((value, location), in: \.revokedHostKeys)
    case .strictHostKeyChecking:
      keep(try ConfigValue.checking(value, refuse), in: \.hostKeyChecking)
      return ConfigValue.checkingWarning(value, location)
    case .hostKeyAlgorithms, .kexAlgorithms, .ciphers, .macs:
      let request = try ConfigValue.algorithms(value, refuse)
      keep((request, name, (value, location)), in: \.algorithms[setting])
    case .connectTimeout: keep(try ConfigValue.time(value, refuse), in: \.connectTimeout)
    case .serverAliveInterval: keep(try ConfigValue.time(value, refuse), in: \.serverAliveInterval)
    case .serverAliveCountMax: keep(try ConfigValue.count(value, refuse), in: \.serverAliveCountMax)
    case .hostKeyAlias: keep(try ConfigValue.plain(value, refuse), in: \.hostKeyAlias)
    case .requestTTY: keep(try ConfigValue.terminal(value, refuse), in: \.requestTTY)
    case .logLevel: keep(try ConfigValue.level(value, refuse), in: \.logLevel)
    case .localForward, .dynamicForward: try addForward(setting, values, refuse)
    case .gatewayPorts: keep(try ConfigValue.flag(value, refuse), in: \.gatewayPorts)
    case .exitOnForwardFailure:
      keep(try ConfigValue.flag(value, refuse), in: \.exitOnForwardFailure)
    case .clearAllForwardings: keep(try ConfigValue.flag(value, refuse), in: \.clearsForwards)
    case .certificateFile:
      guard value.lowercased() != "none" else { return nil }
      throw .featureUnavailable(
        feature: "\(PeerText.escaped(name, limit: 64)) with this libssh2 (\(location))")
    case .proxyJump:
      // Malformed hops are an error also where an earlier line has decided, as with OpenSSH.
      if value.lowercased() != "none" { _ = try JumpHost.list(value, refuse) }
      setProxy(setting, value, name: name, location: location)
    case .proxyCommand: setProxy(setting, value, name: name, location: location)
    }
    return nil
  }

  private mutating func addForward(
    _ setting: ConfigSetting, _ values: [String], _ refuse: (String) -> AppError
  ) throws(AppError) {
    let text = values.joined(separator: ":")
    let rule: ForwardRule
    do throws(AppError) {
      rule =
        setting == .dynamicForward
        ? try ForwardRule(dynamic: text, field: "") : try ForwardRule(local: text, field: "")
    } catch {
      guard case .validationError(_, let message) = error else { throw error }
      throw refuse(message)
    }
    // A second reading finds them all again.
    guard !forwards.contains(rule) else { return }
    guard forwards.count < Self.forwardLimit else {
      throw refuse("more than \(Self.forwardLimit) forwards")
    }
    forwards.append(rule)
  }

  /// How many forwards a host may have.
  private static let forwardLimit = 256

  /// The first proxy setting decides, `none` too.
  private mutating func setProxy(
    _ setting: ConfigSetting, _ value: String, name: String,
    location: ConfigReader.SourceLocation
  ) {
    guard proxy == nil else { return }
    proxy = (setting, name, (value.lowercased() == "none" ? "" : value, location))
  }

  private static func files(_ values: [String], _ location: ConfigReader.SourceLocation) -> [Text] {
    values[0].lowercased() == "none" ? [] : values.map { ($0, location) }
  }

  private mutating func addIdentity(
    _ file: Text, _ refuse: (String) -> AppError
  ) throws(AppError) {
    var files = identityFiles ?? []
    defer { identityFiles = files }
    // A second reading finds them all again.
    guard !files.contains(where: { $0.text == file.text }) else { return }
    guard files.count < Self.identityLimit else {
      throw refuse("more than \(Self.identityLimit) files")
    }
    if file.text.lowercased() != "none" { files.append(file) }
  }

  private mutating func keep<Value>(
    _ value: Value, in slot: WritableKeyPath<ConfigSettings, Value?>
  ) {
    if self[keyPath: slot] == nil { self[keyPath: slot] = value }
  }
}
