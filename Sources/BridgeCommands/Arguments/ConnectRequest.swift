package import BridgeErrors
package import BridgeSSH

/// The checked command line of a command over a link, without the values of files.
package struct ConnectRequest: Sendable, Equatable {
  /// The policy for an unknown host key.
  package enum HostKeyPolicy: String, Sendable, CaseIterable {
    case ask
    case acceptNew = "accept-new"
    case strict
  }

  /// Whether a terminal is requested.
  package enum TerminalWish: Sendable, Equatable {
    case automatic
    case wanted
    case forced
    case unwanted
  }

  /// How much is said.
  package enum Loudness: Sendable, Equatable {
    case quiet
    /// As usual, but for warnings (`LogLevel ERROR`).
    case errors
    case normal
    case verbose
  }

  /// Whether a banner has colors.
  package enum ColorWish: String, Sendable, CaseIterable {
    case automatic = "auto"
    case always
    case never
  }

  /// Whether a shell or a command outlives its link.
  package enum Durability: String, Sendable, CaseIterable {
    /// Where the host has bridge-host.
    case auto
    case require
    case never
  }

  /// What a signal does to the program in a durable session.
  package enum OnInterrupt: String, Sendable, CaseIterable {
    case kill
    case leave
  }

  /// The options of automatic retries.
  package struct Recovery: Sendable, Equatable {
    /// How long the first dial is retried: nil not at all, `forever` without an end.
    package var wait: Limit<Duration>?
    /// How often a lost link is dialed again.
    package var retries = Limit<Int>.forever
    /// Whether COMMAND may run twice.
    package var isIdempotent = false
    /// Silence before a probe; zero never probes; nil where no option is given.
    package var keepalive: Duration?
    /// How long an unresponsive link is kept before it is declared dead.
    package var deadAfter: Duration?

    /// The defaults.
    package init() {}
  }

  /// A bound, or none.
  package enum Limit<Bound: Sendable & Equatable>: Sendable, Equatable {
    case forever
    case upTo(Bound)
  }

  package var host: HostArgument
  package var port: Int?
  package var user: String?
  package var identities: [String]
  package var config: String?
  package var options: [String]
  package var terminal: TerminalWish
  package var isIdle: Bool
  package var loudness: Loudness
  package var hostKeyPolicy: HostKeyPolicy?
  package var knownHosts: String?
  package var passwordDescriptor: Int32?
  package var timeout: Duration?
  package var loginTimeout: Duration?
  package var recovery: Recovery
  package var isJSON: Bool
  package var eventsDescriptor: Int32?
  package var color: ColorWish
  package var isBatch: Bool
  /// The command to run; nil for a shell, or for nothing with `-N`.
  package var command: String?
  /// The options of `ws://` and `wss://`; nil for SSH.
  package var messages: MessageRequest?
  /// Whether the shell or the command outlives its link.
  package var durability: Durability
  /// How a durable session is started.
  package var start: StartRequest
  /// Whether a session is started also where one of its name runs.
  package var startsAnother = false
  /// What a signal does to a durable session that this run has started.
  package var onInterrupt = OnInterrupt.leave
  /// What a person's terminal shows of a session.
  package var screen = ScreenRequest()
  /// The hosts to go through, as they are typed; nil where the configuration decides.
  package var jump: String?
  /// What standard input and output are carried to.
  package var carried: TunnelTarget?
  /// The addresses to dial; nil where the configuration decides.
  package var addressFamily: SSHConfiguration.AddressFamily?
  /// Where words go instead of standard error.
  package var logFile: String?
  /// Whether local ports without an address are opened on every one.
  package var isGateway = false
  /// Whether programs of the host may ask the agent here; nil where the configuration decides.
  package var forwardsAgent: Bool?
  /// Where a run in the background says that it needs its parent process no more.
  package var detachDescriptor: Int32?
  /// What a run that shares its connection is asked to do, in the place of a run (`-O`).
  package var control: SharingCommand?
  /// Whether it shares its connection in the background, for the one that has started it.
  package var isSharedOnly = false
  /// What is forwarded beside the configuration's; nil where nothing may be.
  package var forwards: [ForwardRule]?
  /// What is started, where that is more than `command` says: other bytes, or a subsystem.
  package var program: RemoteProgram?
  /// Whether the run is one of ssh(1): it is silent about what ssh is silent about, probes only
  /// where it is asked to, and ends with ssh's exit status.
  package var isSSH = false
  /// Whether RemoteCommand, SessionType and StdinNull of the configuration say what runs.
  package var takesSession = false

  /// Creates a request from the options of `connect`.
  ///
  /// - Throws: `validationError` naming the option.
  package init(_ options: ConnectOptions) throws(AppError) {
    try self.init(options.link)
    terminal = try Self.terminal(options.terminal, isUnwanted: options.noTerminal)
    isIdle = options.nothing
    recovery.isIdempotent = options.idempotent
    command = try Self.command(options)
    takesSession = true
    messages = try MessageRequest(options, host: host, port: port)
    durability = try ChoiceArgument.parse(options.durable, field: "--durable") ?? .auto
    start = try StartRequest(options.start)
    onInterrupt =
      try ChoiceArgument.parse(options.onInterrupt, field: "--on-interrupt")
      ?? (start.name == nil ? .kill : .leave)
    startsAnother = options.shell.new
    guard !startsAnother || start.name != nil else {
      throw .validationError(field: "--new", message: "It goes with --name.")
    }
    screen = try ScreenRequest(options.shell.screen)
    try options.tunnels.checkAvailable()
    carried = try options.tunnels.target(beside: options)
    if carried != nil { isIdle = true }
    isGateway = options.tunnels.isGateway
    forwardsAgent = options.tunnels.agent.wish
    try checkBackground(options)
    let forwards = try options.tunnels.forwards()
    self.forwards = carried == nil ? forwards : nil
  }

  /// Creates a request that runs nothing.
  ///
  /// - Throws: `validationError` naming the option.
  package init(_ options: LinkArguments) throws(AppError) {
    host = try HostArgument(options.host)
    let flagPort = try Self.map(options.port) { (text) throws(AppError) in
      try HostArgument.port(text, field: "-p")
    }
    port = try host.port(or: flagPort)
    user = try host.user(or: options.login)
    identities = try Self.paths(options.identity, field: "-i")
    config = try Self.paths(options.config.map { [$0] } ?? [], field: "-F").first
    self.options = options.option
    terminal = .unwanted
    isIdle = false
    loudness = try Self.loudness(options)
    hostKeyPolicy = try ChoiceArgument.parse(options.hostKey, field: "--host-key")
    knownHosts = try Self.paths(options.knownHosts.map { [$0] } ?? [], field: "--known-hosts").first
    passwordDescriptor = try Self.map(options.passwordFd) { (text) throws(AppError) in
      try Self.descriptor(text, field: "--password-fd", lowest: 0)
    }
    timeout = try Self.map(options.timeout) { (text) throws(AppError) in
      try DurationArgument.parse(text, field: "--timeout")
    }
    loginTimeout = try Self.map(options.loginTimeout) { (text) throws(AppError) in
      try DurationArgument.parse(text, field: "--login-timeout")
    }
    recovery = try Recovery(options)
    isJSON = options.json
    eventsDescriptor = try Self.map(options.eventsFd) { (text) throws(AppError) in
      try Self.descriptor(text, field: "--events-fd", lowest: 2)
    }
    color = try Self.color(options)
    isBatch = options.batch
    command = nil
    messages = nil
    durability = .never
    start = StartRequest()
    jump = options.jump
    addressFamily = try Self.family(options)
    logFile = try Self.paths(options.logFile.map { [$0] } ?? [], field: "-E").first
    carried = nil
    forwards = nil
  }

  /// Creates a request for the durable sessions of a host.
  ///
  /// - Throws: `validationError` naming the option.
  package init(sessionsOf options: LinkArguments) throws(AppError) {
    try self.init(options)
    guard host.scheme == .ssh else {
      throw .validationError(field: "HOST", message: "Durable sessions are reached over SSH only.")
    }
  }

  /// Where the run's end is written; nil where it is not.
  ///
  /// - Throws: `validationError` for what is no path.
  static func exitStatusFile(_ path: String?) throws(AppError) -> String? {
    try paths(path.map { [$0] } ?? [], field: "--exit-status-file").first
  }

  private static func command(_ options: ConnectOptions) throws(AppError) -> String? {
    guard let command = try joined(options.command) else {
      guard !options.idempotent || options.nothing else {
        throw .validationError(field: "--idempotent", message: "--idempotent requires a COMMAND.")
      }
      return nil
    }
    guard !options.nothing else {
      throw .validationError(field: "-N", message: "-N runs nothing, but a COMMAND is given.")
    }
    return command
  }

  /// The words of COMMAND as one line; nil where there are none.
  ///
  /// - Throws: `validationError` for a NUL byte.
  static func joined(_ words: [String]) throws(AppError) -> String? {
    let command = words.joined(separator: " ")
    guard !command.utf8.contains(0) else {
      throw .validationError(field: "COMMAND", message: "It contains a NUL byte.")
    }
    return words.isEmpty ? nil : command
  }

  private func checkBackground(_ options: ConnectOptions) throws(AppError) {
    guard options.tunnels.goesToBackground else { return }
    guard command != nil || options.nothing, carried == nil, messages == nil else {
      throw .validationError(field: "-f", message: "It needs a COMMAND, or -N, over SSH.")
    }
  }

  private static func family(
    _ options: LinkArguments
  ) throws(AppError) -> SSHConfiguration.AddressFamily? {
    guard !(options.onlyIPv4 && options.onlyIPv6) else {
      throw .validationError(field: "-4", message: "-4 and -6 cannot be combined.")
    }
    if options.onlyIPv4 { return .ipv4 }
    return options.onlyIPv6 ? .ipv6 : nil
  }

  private static func terminal(
    _ count: Int, isUnwanted: Bool
  ) throws(AppError) -> TerminalWish {
    guard count == 0 || !isUnwanted else {
      throw .validationError(field: "-t", message: "-t and -T cannot be combined.")
    }
    if count > 0 { return count > 1 ? .forced : .wanted }
    return isUnwanted ? .unwanted : .automatic
  }

  private static func loudness(_ options: LinkArguments) throws(AppError) -> Loudness {
    guard !(options.quiet && options.verbose) else {
      throw .validationError(field: "-q", message: "-q and -v cannot be combined.")
    }
    if options.quiet { return .quiet }
    return options.verbose ? .verbose : .normal
  }

  private static func color(_ options: LinkArguments) throws(AppError) -> ColorWish {
    let typed: ColorWish? = try ChoiceArgument.parse(options.color, field: "--color")
    guard let wish = typed else { return options.noColor ? .never : .automatic }
    guard !options.noColor || wish == .never else {
      throw .validationError(field: "--color", message: "--no-color excludes it.")
    }
    return wish
  }

  static func descriptor(
    _ text: String, field: String, lowest: Int32
  ) throws(AppError) -> Int32 {
    guard text.utf8.count <= 5, text.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = Int32(text), number == lowest || number > 2
    else {
      throw .validationError(
        field: field,
        message: "\"\(PeerText.escaped(text, limit: 64))\" is not a usable descriptor.")
    }
    return number
  }

  static func paths(_ paths: [String], field: String) throws(AppError) -> [String] {
    for path in paths {
      guard !path.isEmpty, path.utf8.count < 4096, !path.utf8.contains(0) else {
        throw .validationError(
          field: field, message: "\"\(PeerText.escaped(path, limit: 64))\" is not a path.")
      }
    }
    return paths
  }

  static func map<Value>(
    _ text: String?, _ transform: (String) throws(AppError) -> Value
  ) throws(AppError) -> Value? {
    guard let text else { return nil }
    return try transform(text)
  }
}

extension ConnectRequest.Recovery {
  fileprivate init(_ options: LinkArguments) throws(AppError) {
    wait = try ConnectRequest.map(options.wait) { (text) throws(AppError) in
      text == "forever"
        ? .forever : .upTo(try DurationArgument.parse(text, field: "--wait"))
    }
    if options.noReconnect {
      guard options.retry == nil else {
        throw .validationError(
          field: "--retry", message: "--no-reconnect and --retry cannot be combined.")
      }
      retries = .upTo(0)
    } else if let retry = options.retry, retry != "forever" {
      guard retry.utf8.count <= 9, retry.utf8.allSatisfy({ (48...57).contains($0) }),
        let number = Int(retry)
      else {
        throw .validationError(
          field: "--retry",
          message: "\"\(PeerText.escaped(retry, limit: 64))\" is neither a number nor forever.")
      }
      retries = .upTo(number)
    }
    keepalive = try ConnectRequest.map(options.keepalive) { (text) throws(AppError) in
      try DurationArgument.parse(text, field: "--keepalive", allowsZero: true)
    }
    deadAfter = try ConnectRequest.map(options.deadAfter) { (text) throws(AppError) in
      try DurationArgument.parse(text, field: "--dead-after")
    }
  }
}
