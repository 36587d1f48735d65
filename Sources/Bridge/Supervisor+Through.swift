import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket

extension Supervisor {
  /// Keeps a WebSocket connection up that leads through the SSH connection of `link`: to a server
  /// that only the host of that link reaches, an app server on its loopback for instance.
  ///
  /// It is a link of its own: while the one that carries it is down it rests, what its server does
  /// is charged to it alone, and where it gives up the other goes on.
  ///
  /// - Parameters:
  ///   - id: its name.
  ///   - url: the server. With `wss` TLS is spoken with the server, by the host of the URL.
  ///   - target: where the host dials, a port or a unix socket; nil for host and port of the URL.
  ///   - link: the link that carries it.
  ///   - options: how it is kept up; `parents` has `link` in any case, and `group` is by default of
  ///     this way to this target.
  ///   - onConnected: as of `add(_:to:_:onConnected:make:)`.
  ///   - configuration: called for each connection: the place to fetch a fresh token. Its `way` is
  ///     overwritten.
  /// - Throws: `internalError` when its name is in use; `cancelled` after `shutDown`.
  @discardableResult
  public func add(
    _ id: ConnectionID, to url: WebSocketEndpoint, at target: TunnelTarget? = nil,
    through link: Link<SSHConnection>, _ options: LinkOptions = LinkOptions(),
    onConnected: @escaping @Sendable (WebSocketConnection) async -> Void = { _ in },
    configuration: @escaping @Sendable () async throws(AppError) -> WebSocketConfiguration = {
      WebSocketConfiguration()
    }
  ) throws(AppError) -> Link<WebSocketConnection> {
    let target = target ?? .port(url.endpoint)
    var options = options
    if !options.parents.contains(link.id) { options.parents.append(link.id) }
    options.group = options.group ?? "\(target) by \(link.id)"
    return try add(
      id, to: url.endpoint, options, onConnected: onConnected,
      make: { (_: Endpoint) async throws(AppError) -> WebSocketConnection in
        var configuration = try await configuration()
        configuration.way = .socket(from: try await link.connection.sockets(to: target))
        return WebSocketConnection(to: url, configuration: configuration)
      })
  }
}
