import BridgeErrors
import BridgeReactor

/// The session while a helper thread owns it: no other code may touch it meanwhile.
struct HelperSession {
  let session: SSHSession
  /// The evidence at the moment when the helper thread took it.
  let evidence: SSHSession.Evidence
}

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
