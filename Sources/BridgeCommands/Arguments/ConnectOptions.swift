package import ArgumentParser
import BridgeTerminal

/// The options of `connect` as they are typed; `ConnectRequest` says what they mean.
@dynamicMemberLookup
package struct ConnectOptions: ParsableArguments {
  @OptionGroup
  package var link: LinkOptions

  @Flag(
    name: .customShort("t"),
    help: "Request a terminal for a command too; -tt: even if standard input is not a terminal.")
  package var terminal: Int

  @Flag(name: .customShort("T"), help: "Request no terminal.")
  package var noTerminal = false

  @Flag(name: .customShort("N"), help: "Run nothing; stay connected.")
  package var nothing = false

  @Flag(
    help: """
      COMMAND may run again after a reconnect, with the same input (up to \
      \(ReplayBuffer.limit >> 20) MiB).
      """)
  package var idempotent = false

  @OptionGroup(title: "Durable session options")
  package var start: StartOptions

  @Option(
    help: ArgumentHelp(
      """
      Whether the shell or command outlives the link: auto (the default: where the host has \
      bridge-host), require or never.
      """,
      valueName: "WHEN"))
  package var durable: String?

  @Option(
    help: ArgumentHelp(
      """
      What a signal that ends bridgectl does to the program in a durable session: kill (the \
      default without --name) ends it, leave lets it go on. Ctrl-C is passed on to a command first.
      """,
      valueName: "kill|leave"))
  package var onInterrupt: String?

  @OptionGroup(title: "Other options of ssh(1)")
  package var tunnels: TunnelOptions

  @OptionGroup(title: "WebSocket options")
  package var messages: MessageOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp(
      """
      The command to run. Its words are joined with spaces; no word after the first, nor after --, \
      is an option. Without it: a shell.
      """,
      valueName: "COMMAND"))
  package var command: [String] = []

  /// None yet.
  package init() {}

  /// The options that it shares with the other commands.
  package subscript<Value>(dynamicMember path: KeyPath<LinkOptions, Value>) -> Value {
    link[keyPath: path]
  }
}
