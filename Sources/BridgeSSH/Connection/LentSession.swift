import BridgeErrors
import BridgeReactor

/// The session while a helper thread uses it: nobody else may look into it meanwhile.
struct LentSession {
  let session: SSHSession
  /// What was known of it when it was lent.
  let evidence: SSHSession.Evidence
}

extension SSHSession {
  /// What explains a failure, beside the library's code.
  struct Evidence: Sendable {
    var socket: SocketCondition
    var disconnect: Disconnect?
    var lastHeard: ContinuousClock.Instant?
  }

  /// What explains a failure now.
  var evidence: Evidence {
    Evidence(
      socket: wire.socket.condition, disconnect: disconnect, lastHeard: wire.lastHeard)
  }
}
