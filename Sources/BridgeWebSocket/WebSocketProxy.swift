public import BridgeErrors
public import BridgeTransport

/// An HTTP proxy that opens a tunnel to the server (CONNECT: RFC 9110, 9.3.6; RFC 6455, 4.1).
///
/// TLS is spoken with the server, through the tunnel: the proxy sees its name and its port, the
/// number of bytes and, with `ws`, what they are.
public struct WebSocketProxy: Sendable, CustomStringConvertible {
  /// Where the proxy is.
  public var endpoint: Endpoint
  /// `user:password`, sent to the proxy as Basic credentials (RFC 7617) and never shown.
  public var credentials: Secret?
  /// What names the proxy, for errors: an environment variable, a setting.
  public var source: String?

  /// The proxy at `endpoint`.
  public init(at endpoint: Endpoint, credentials: Secret? = nil, source: String? = nil) {
    self.endpoint = endpoint
    self.credentials = credentials
    self.source = source
  }

  /// `host:port (source)`, escaped and bounded, without credentials.
  public var description: String {
    let place = PeerText.escaped("\(endpoint)", limit: 256)
    return source.map { "\(place) (\(PeerText.escaped($0, limit: 64)))" } ?? place
  }
}

extension WebSocketProxy: Equatable {
  /// Whether both are one proxy with the same credentials.
  public static func == (left: Self, right: Self) -> Bool {
    let (mine, other) = (left.credentials?.reveal { $0 }, right.credentials?.reveal { $0 })
    return left.endpoint == right.endpoint && left.source == right.source && mine == other
  }
}
