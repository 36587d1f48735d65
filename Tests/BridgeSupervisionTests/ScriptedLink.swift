import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport

/// A link to a scripted host, to be added: its connections know the number of their generation.
struct ScriptedLink: Sendable {
  let id: ConnectionID
  let host: ScriptedHost
  var options = LinkOptions()
  var teardown = Duration.milliseconds(2)
  var onConnected: @Sendable (ScriptedConnection, Int) async -> Void = { _, _ in }
}

extension Supervisor {
  /// Keeps `link` up from now on.
  @discardableResult
  func add(_ link: ScriptedLink) throws(AppError) -> Link<ScriptedConnection> {
    try add(link.id, to: link.host.endpoint, link.options, onGeneration: link.onConnected) {
      link.host.connection(link.id, $1, teardown: link.teardown)
    }
  }
}
