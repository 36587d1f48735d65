import ArgumentParser
import BridgeErrors

/// The options of `connect` that lead to a host by way of others, as ssh(1) has them.
package struct TunnelOptions: ParsableArguments {
  @Flag(name: .customShort("n"), help: "Read nothing from standard input.")
  package var noInput = false

  @Flag(name: .customShort("A"), help: .hidden)
  package var forwardsAgent = false

  @Flag(name: .customShort("C"), help: .hidden)
  package var compresses = false

  /// None yet.
  package init() {}

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
