package import ArgumentParser
import BridgeErrors
import BridgeSSH

/// The options of ssh(1) for what is carried through the host, and those that `connect` takes for
/// compatibility.
package struct TunnelOptions: ParsableArguments {
  @Option(
    name: .customShort("W", allowingJoined: true),
    help: ArgumentHelp(
      "Forward standard input and output to HOST:PORT, or a unix socket, as the host reaches it.",
      valueName: "TARGET"))
  package var carried: String?

  @Option(
    name: .customShort("L", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      """
      Forward connections to a local port (on loopback, or on ADDRESS; * for all) or unix socket \
      to HOST:HOSTPORT or a unix socket, as the host reaches it; may be repeated.
      """,
      valueName: "[ADDRESS:]PORT:HOST:HOSTPORT"))
  package var local: [String] = []

  @Option(
    name: .customShort("D", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Forward connections to a local port to the target that each requests (SOCKS 4, 4a or 5).",
      valueName: "[ADDRESS:]PORT"))
  package var dynamic: [String] = []

  @Option(
    name: .customShort("R", allowingJoined: true), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      """
      Forward connections to a port of the host (0 for any; its GatewayPorts decides on ADDRESS) \
      to HOST:HOSTPORT or a unix socket, as this machine reaches it; without HOST:HOSTPORT to the \
      target that each requests (SOCKS); may be repeated.
      """,
      valueName: "[ADDRESS:]PORT[:HOST:HOSTPORT]"))
  package var remote: [String] = []

  @Flag(
    name: .customShort("g"),
    help: "Open local ports without an ADDRESS on every address (GatewayPorts).")
  package var isGateway = false

  @Flag(
    name: .customShort("f"),
    help: """
      Go to the background once logged in, and with ExitOnForwardFailure once the ports are open; \
      implies -n. The exit status says whether that succeeded.
      """)
  package var goesToBackground = false

  @Flag(
    name: .customShort("G"), help: "Print the settings for HOST as `ssh -G` does, and end.")
  package var printsConfig = false

  @Flag(name: .customShort("n"), help: "Read nothing from standard input.")
  package var noInput = false

  @OptionGroup package var agent: AgentOptions

  @Flag(name: .customShort("C"), help: .hidden)
  package var compresses = false

  /// None yet.
  package init() {}

  /// The target of `-W`.
  ///
  /// - Throws: `validationError`.
  func target(beside options: ConnectOptions) throws(AppError) -> TunnelTarget? {
    guard let carried else { return nil }
    let isAlone = options.command.isEmpty && !options.nothing && options.terminal == 0
    guard isAlone else {
      throw .validationError(
        field: "-W",
        message: "It cannot be combined with COMMAND, -N or -t: input and output are the target's.")
    }
    return try ForwardRule.target(carried, field: "-W")
  }

  /// The rules of `-L`, `-D` and `-R`.
  ///
  /// - Throws: `validationError`; `featureUnavailable` for a unix socket of the host.
  func forwards() throws(AppError) -> [ForwardRule] {
    var rules: [ForwardRule] = []
    for text in local { rules.append(try ForwardRule(local: text, field: "-L")) }
    for text in dynamic { rules.append(try ForwardRule(dynamic: text, field: "-D")) }
    for text in remote {
      let rule = try ForwardRule(remote: text, field: "-R")
      if case .socket = rule.source {
        throw .featureUnavailable(feature: "\(rule.name) (a unix socket of the host)")
      }
      rules.append(rule)
    }
    return rules
  }

  /// Refuses by name what ssh(1) has and this program has not.
  ///
  /// - Throws: `featureUnavailable`.
  func checkAvailable() throws(AppError) {
    if compresses { throw .featureUnavailable(feature: "-C (compression)") }
  }
}
