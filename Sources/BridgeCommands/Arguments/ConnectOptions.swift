package import ArgumentParser
import BridgeTerminal

/// The options of `connect` as they are typed; `ConnectRequest` says what they mean.
@dynamicMemberLookup
package struct ConnectOptions: Sendable {
  package let link: LinkArguments
  package let shell: ShellOptions
  package let start: StartOptions
  package let tunnels: TunnelOptions
  package let messages: MessageOptions
  package let command: [String]

  /// The options that it shares with the other commands.
  package subscript<Value>(dynamicMember path: KeyPath<LinkArguments, Value>) -> Value {
    link[keyPath: path]
  }

  /// The options beside the host.
  package subscript<Value>(dynamicMember path: KeyPath<ReachOptions, Value>) -> Value {
    link.reach[keyPath: path]
  }

  /// Its own options.
  package subscript<Value>(dynamicMember path: KeyPath<ShellOptions, Value>) -> Value {
    shell[keyPath: path]
  }
}

/// A command with the options of `connect`.
///
/// It has every group itself: a parser that was built for debugging validates each group once more
/// for every group around it, which took a second and a half at each start.
package protocol ConnectArguments {
  var reach: ReachOptions { get }
  var host: String { get }
  var shell: ShellOptions { get }
  var start: StartOptions { get }
  var tunnels: TunnelOptions { get }
  var messages: MessageOptions { get }
  var command: [String] { get }
}

extension ConnectArguments {
  /// All of them.
  package var options: ConnectOptions {
    ConnectOptions(
      link: LinkArguments(reach, host: host), shell: shell, start: start, tunnels: tunnels,
      messages: messages, command: command)
  }
}

/// How a shell or a command runs.
package struct ShellOptions: ParsableArguments {
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

  @Flag(help: "With --name: start another session, also where one of this name runs.")
  package var new = false

  @OptionGroup package var screen: ScreenOptions

  /// None yet.
  package init() {}
}
