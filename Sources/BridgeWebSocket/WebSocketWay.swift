import BridgeErrors
public import BridgeReactor

/// The way of a WebSocket connection to its server.
public enum WebSocketWay: Sendable {
  /// A TCP connection to the host of the URL.
  case direct
  /// A tunnel through an HTTP proxy.
  case proxy(WebSocketProxy)
  /// A unix socket of this machine, at most 107 bytes of path (unix(7)). Host and port of the URL
  /// only name the server then.
  case unixSocket(path: String)
  /// A socket that is made elsewhere: a channel of an SSH connection, whose host reaches the
  /// server. Host and port of the URL only name it then.
  case socket(from: any SocketSource)

  /// The proxy; nil on every other way.
  var proxy: WebSocketProxy? {
    guard case .proxy(let proxy) = self else { return nil }
    return proxy
  }

  /// The unix socket; nil on every other way.
  var socketPath: String? {
    guard case .unixSocket(let path) = self else { return nil }
    return path
  }

  /// What ended the way itself; nil where the server is all there is.
  var loss: ConnectionError? {
    guard case .socket(let source) = self else { return nil }
    return source.loss
  }
}
