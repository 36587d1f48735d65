package import ArgumentParser

/// The options of `connect` as they are typed; `ConnectRequest` says what they mean.
package struct ConnectOptions: ParsableArguments {
  @Option(name: .customShort("p", allowingJoined: true), help: "The port.")
  package var port: String?

  @Option(name: .customShort("l", allowingJoined: true), help: "The remote user.")
  package var login: String?

  @Option(
    name: .customShort("i", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: "A private key file; may be repeated.")
  package var identity: [String] = []

  @Option(
    name: .customShort("F", allowingJoined: true),
    help: "The configuration file instead of ~/.ssh/config; `none` for none.")
  package var config: String?

  @Option(
    name: .customShort("o", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: "A setting as ssh_config has it, KEY=VALUE; may be repeated.")
  package var option: [String] = []

  @Flag(
    name: .customShort("t"),
    help: "Ask for a terminal also for a command; twice: even if standard input is none.")
  package var terminal: Int

  @Flag(name: .customShort("T"), help: "Ask for no terminal.")
  package var noTerminal = false

  @Flag(name: .customShort("N"), help: "Run nothing; stay connected.")
  package var nothing = false

  @Flag(name: .customShort("q"), help: "Say nothing but the error that ends it.")
  package var quiet = false

  @Flag(name: .customShort("v"), help: "Say more: every phase, and what was agreed on.")
  package var verbose = false

  @Option(help: "ask, accept-new or strict: what to do about an unknown host key.")
  package var hostKey: String?

  @Option(help: "The known_hosts file instead of the usual ones.")
  package var knownHosts: String?

  @Option(help: "The descriptor to read a password from, up to a line feed.")
  package var passwordFd: String?

  @Option(help: "How long one attempt may take in total.")
  package var timeout: String?

  @Option(help: "Retry the first dial too, for ever or for DURATION (--wait or --wait=DURATION).")
  package var wait: String?

  @Option(help: "How often to reconnect: a number or forever.")
  package var retry: String?

  @Flag(help: "End when the link is lost.")
  package var noReconnect = false

  @Flag(help: "COMMAND may run again after a reconnect.")
  package var idempotent = false

  @Option(help: "How long the link may be silent before it is probed; 0s never probes.")
  package var keepalive: String?

  @Option(help: "How long a silent link is given before it counts as lost.")
  package var verdict: String?

  @Flag(help: "Standard error is JSON lines only (docs/events.md).")
  package var json = false

  @Option(help: "The descriptor to write events to as JSON lines.")
  package var eventsFd: String?

  @Flag(help: "No colour.")
  package var noColor = false

  @Flag(help: "Never ask.")
  package var batch = false

  @Argument(help: "[user@]host[:port], [v6]:port, ssh://…")
  package var host: String

  @Argument(
    parsing: .postTerminator,
    help: "What to run, after --; the words are joined with spaces. Without it: a shell.")
  package var command: [String] = []

  /// None yet.
  package init() {}
}
