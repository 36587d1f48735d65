package import ArgumentParser
import BridgeTransport

/// The host of a command over a link, with the options that every such command has.
@dynamicMemberLookup
package struct LinkArguments: ParsableArguments {
  @OptionGroup
  package var reach: ReachOptions

  @Argument(help: LinkArguments.help, completion: .hosts)
  package var host: String

  /// What a host is.
  package static let help = ArgumentHelp(
    "[user@]host[:port], [v6]:port, ssh://…, ws://…, wss://…", valueName: "HOST")

  /// None yet.
  package init() {}

  /// The options of a command that names `host` in another way.
  package init(_ reach: ReachOptions, host: String) {
    self.reach = reach
    self.host = host
  }

  /// The options beside the host.
  package subscript<Value>(dynamicMember path: KeyPath<ReachOptions, Value>) -> Value {
    reach[keyPath: path]
  }
}

/// The options that every command over a link has: how to reach a host, and what to say about it.
package struct ReachOptions: ParsableArguments {
  @Option(
    name: .customShort("p", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The port; the first one counts.", valueName: "PORT"))
  package var ports: [String] = []

  @Option(
    name: .customShort("l", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The remote user; the first one counts.", valueName: "USER"))
  package var logins: [String] = []

  /// As with ssh: that of an alias stands before what is typed behind it.
  package var port: String? { ports.first }

  /// Likewise.
  package var login: String? { logins.first }

  @Option(
    name: .customShort("i", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A private key file; may be repeated.", valueName: "KEYFILE"),
    completion: .file())
  package var identity: [String] = []

  @Option(
    name: .customShort("F", allowingJoined: true),
    help: ArgumentHelp(
      "The configuration file instead of ~/.ssh/config and /etc/ssh/ssh_config; `none` for none.",
      valueName: "FILE"), completion: .file())
  package var config: String?

  @Option(
    name: .customShort("o", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A setting in ssh_config form, KEY=VALUE; may be repeated.", valueName: "KEY=VALUE"))
  package var option: [String] = []

  @Option(
    name: .customShort("J", allowingJoined: true),
    help: ArgumentHelp(
      "Connect through these hosts, in this order: [user@]host[:port],…; none for none.",
      valueName: "HOSTS"), completion: .hosts)
  package var jump: String?

  @Flag(name: .customShort("4"), help: "Dial IPv4 addresses only.")
  package var onlyIPv4 = false

  @Flag(name: .customShort("6"), help: "Dial IPv6 addresses only.")
  package var onlyIPv6 = false

  @Option(
    name: .customShort("E", allowingJoined: true),
    help: ArgumentHelp(
      "Append messages to FILE instead of standard error.", valueName: "FILE"),
    completion: .file())
  package var logFile: String?

  @Option(
    help: ArgumentHelp(
      "Write how the run ended to FILE, as one line of JSON with both exit statuses.",
      valueName: "FILE"), completion: .file())
  package var exitStatusFile: String?

  @Flag(name: .customShort("q"), help: "Print only the error that ends the run.")
  package var quiet = false

  @Flag(name: .customShort("v"), help: "Print every phase and the negotiated algorithms.")
  package var verbose = false

  @Option(
    help: ArgumentHelp(
      "Policy for an unknown host key: ask (the default), accept-new or strict.",
      valueName: "POLICY"))
  package var hostKey: String?

  @Option(
    help: ArgumentHelp("The known_hosts file instead of the usual ones.", valueName: "FILE"),
    completion: .file())
  package var knownHosts: String?

  @Option(
    help: ArgumentHelp("The descriptor to read a password from, up to a line feed.", valueName: "N")
  )
  package var passwordFd: String?

  @Option(help: ArgumentHelp("How long one attempt may take in total.", valueName: "DURATION"))
  package var timeout: String?

  @Option(
    help: ArgumentHelp(
      "How long the server may take to accept a login (2m by default).", valueName: "DURATION"))
  package var loginTimeout: String?

  @Option(
    help: ArgumentHelp(
      "Retry the first dial too, forever or for DURATION (--wait or --wait=DURATION).",
      valueName: "DURATION"))
  package var wait: String?

  @Option(
    help: ArgumentHelp("How many reconnects: a number or forever (the default).", valueName: "N")
  )
  package var retry: String?

  @Flag(help: "End when the link is lost.")
  package var noReconnect = false

  @Option(
    help: ArgumentHelp(
      """
      The silence after which the link is probed \
      (\(DurationArgument.text(LivenessPolicy.defaultKeepalive))); 0s never probes.
      """,
      valueName: "DURATION"))
  package var keepalive: String?

  @Option(
    help: ArgumentHelp(
      """
      How long an unresponsive connection is kept before it is declared dead \
      (\(DurationArgument.text(LivenessPolicy.defaultDeadAfter)); less where replacing it loses \
      nothing).
      """,
      valueName: "DURATION"))
  package var deadAfter: String?

  @Flag(help: "Write only JSON lines to standard error (docs/events.md).")
  package var json = false

  @Option(help: ArgumentHelp("The descriptor to write events to as JSON lines.", valueName: "N"))
  package var eventsFd: String?

  @Option(
    help: ArgumentHelp(
      "Whether the banner has colors: auto (the default), always or never.", valueName: "WHEN"))
  package var color: String?

  @Flag(help: "The same as --color=never.")
  package var noColor = false

  @Flag(help: "Never prompt.")
  package var batch = false

  /// None yet.
  package init() {}
}
