import BridgeErrors
import BridgeReactor

extension SSHSession {
  /// Facts that explain a failure, beside the library's code.
  struct Evidence: Sendable {
    var socket: SocketCondition
    var disconnect: Disconnect?
    var lastHeard: ContinuousClock.Instant?
  }

  /// The current evidence.
  var evidence: Evidence {
    Evidence(
      socket: wire.carrier.condition, disconnect: disconnect, lastHeard: wire.lastHeard)
  }
}
