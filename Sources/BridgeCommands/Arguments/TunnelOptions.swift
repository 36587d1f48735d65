package import ArgumentParser
import BridgeErrors
import BridgeSSH

/// The options of `connect` that lead to a host by way of others, as ssh(1) has them.
package struct TunnelOptions: ParsableArguments {
  @Option(
    name: .customShort("W", allowingJoined: true),
    help: ArgumentHelp(
      "Carry standard input and output to HOST:PORT, or to a unix socket, as the host reaches it.",
      valueName: "TARGET"))
  package var carried: String?

  @Flag(name: .customShort("n"), help: "Read nothing from standard input.")
  package var noInput = false

  @Flag(name: .customShort("A"), help: .hidden)
  package var forwardsAgent = false

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
        message: "It excludes COMMAND, -N and -t: its input and output are the target's.")
    }
    return try ForwardRule.target(carried, field: "-W")
  }

  /// Refuses by name what ssh(1) has and this program has not.
  ///
  /// - Throws: `featureUnavailable`.
  func checkAvailable() throws(AppError) {
    if forwardsAgent {
      throw .featureUnavailable(feature: "-A (agent forwarding) with this libssh2")
    }
    if compresses { throw .featureUnavailable(feature: "-C (compression)") }
  }
}
