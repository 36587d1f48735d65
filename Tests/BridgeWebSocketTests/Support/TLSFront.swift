import BridgeErrors
import BridgeFaults
import BridgeWebSocket
import Foundation

/// `openssl s_server` in front of a plain peer: TLS by a second implementation's program.
///
/// It serves one connection at a time, all into one connection to the peer.
final class TLSFront: Sendable {
  let port: Int
  private let pid: Int32

  /// Speaks TLS with `name`'s key and certificate, and passes what it says on to `peer`.
  init(
    to peer: Int, _ certificates: Certificates, _ name: String, _ options: [String] = []
  ) async throws {
    let vacant = try await ScriptedTCPPeer([])
    port = vacant.port
    await vacant.stop()
    let command = Process()
    command.executableURL = URL(fileURLWithPath: "/bin/bash")
    command.arguments =
      [
        "-c", #"exec 3<>"/dev/tcp/127.0.0.1/$1"; shift; exec openssl s_server "$@" <&3 >&3 2>&-"#,
        "front", "\(peer)", "-quiet", "-accept", "127.0.0.1:\(port)",
        "-cert", "\(certificates.folder)/\(name).crt", "-key", "\(certificates.folder)/\(name).key",
      ] + options
    try command.run()
    pid = command.processIdentifier
  }

  func stop() { kill(pid, SIGKILL) }

  /// It does nothing any more, and its sockets stay open.
  func freeze() { kill(pid, SIGSTOP) }

  /// Connects as soon as the server listens: until then it is refused.
  func connect(
    _ host: String, _ configuration: WebSocketConfiguration
  ) async throws(AppError) -> WebSocketConnection {
    while true {
      let connection = try WebSocketConnection(
        to: "wss://\(host):\(port)/", configuration: configuration)
      do throws(AppError) {
        try await connection.connect()
        return connection
      } catch {
        let failure = await connection.lastFailure
        let isTooEarly = failure?.kind == .refused || failure?.phase == .dial
        guard isTooEarly else { throw error }
      }
    }
  }
}
