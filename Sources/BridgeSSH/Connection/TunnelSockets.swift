import BridgeErrors
import BridgeReactor

/// The sockets that an SSH connection makes to one target.
struct TunnelSockets: SocketSource {
  let connection: SSHConnection
  let target: TunnelTarget

  func socket() async throws(ConnectionError) -> Socket { try await connection.socket(to: target) }

  var loss: ConnectionError? { connection.loss }
}
