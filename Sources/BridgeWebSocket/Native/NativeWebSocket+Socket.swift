import BridgeReactor
import CLibWebSockets

/// A WebSocket over a socket that is connected already: through a proxy, to a unix socket, by a
/// channel of another connection.
///
/// libwebsockets makes its own socket and connects it, and has no call that takes one. So it gets
/// an address to which a connect stays under way, and before the loop has looked at its descriptor
/// that becomes one of the socket: the next turn finds it connected, as after any other dial.
extension NativeWebSocket {
  /// Goes on over `socket`, which leads to the server and is taken over; false when the library
  /// gave up at once, or has no socket to put it in the place of.
  func start(over socket: Socket, in context: WebSocketContext, trust: TrustStore?) -> Bool {
    defer { socket.close() }
    guard let busy = BusySocket() else { return false }
    defer { busy.close() }
    guard start(busy.address, in: context, trust: trust) else { return false }
    guard facts.stage == .dialing, let connection = unsafe connection else { return true }
    var seen = bridge_tcp()
    isCounted = unsafe bridge_tcp_look(socket.descriptor, &seen)
    bytesBefore = seen.bytes
    guard unsafe bridge_replace(lws_get_socket_fd(connection), socket.descriptor) else {
      kill()
      return false
    }
    return true
  }
}
