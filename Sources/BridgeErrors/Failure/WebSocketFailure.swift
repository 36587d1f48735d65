/// A failure of the WebSocket library or of our own WebSocket connection.
public struct WebSocketFailure: Error, Sendable, Equatable {
  /// What our own side saw. libwebsockets' texts are never matched.
  public enum Observation: Sendable, Equatable {
    /// The name does not exist (EAI_NONAME).
    case nameUnknown
    /// The resolver gave no answer in time.
    case nameTimeout
    /// No interface is up.
    case offline
    /// The dial ended with this errno.
    case dial(errno: Int32)
    /// The total deadline of the phase passed.
    case deadline
    /// TLS was refused by us, for this cause.
    case tls(FailureKind.TLSCause)
    /// The server answered the upgrade with a status other than 101.
    case refusedUpgrade(status: Int, retryAfter: Int?, message: String?, location: String?)
    /// The answer is no WebSocket handshake, or not the requested one.
    case notWebSocket(seen: String, location: String?)
    /// The proxy answered CONNECT with an HTTP error; whether credentials were sent.
    case refusedTunnel(status: Int, reason: String, retryAfter: Int?, sentCredentials: Bool)
    /// The answer to CONNECT is not one of an HTTP proxy.
    case notProxy(seen: String, location: String?)
    /// What leads to the server failed, with an error of its own: an SSH connection.
    case elsewhere(ConnectionError)
    /// FIN or RST before the upgrade was done.
    case dropped
    /// The peer closed the connection; `code` is nil where no close frame (or an empty one) came.
    case closed(code: Int?, reason: String)
    /// A ping was not answered before the peer was declared dead.
    case pingTimeout
    /// This side's library ended it; no close, no fault and no end of the socket was seen.
    case unexplained
    /// What the peer sent is longer than is taken here.
    case overLimit(Bounded, limit: Int)
    /// The peer broke RFC 6455, or sent bad UTF-8.
    case invalidMessage(detail: String)
    /// The library refused a call that should have worked.
    case internalFault(detail: String)
    /// The caller canceled.
    case cancelled
  }

  /// What a limit of this program is about.
  public enum Bounded: Sendable, Hashable, CaseIterable {
    /// The header of the answer to the upgrade request.
    case header
    /// A message.
    case message
  }

  /// The cause.
  public var observation: Observation
  /// The phase the connection was in.
  public var phase: ConnectionPhase
  /// The host as the user named it.
  public var host: String
  /// The TCP port.
  public var port: Int?
  /// The unix socket that is dialed in place of the host; nil where none is.
  public var socketPath: String?
  /// The path of its URL, without the query, which may carry a token.
  public var path: String
  /// The configured timeout of the phase, in whole seconds.
  public var timeout: Int
  /// The time that the server had, exactly, where that is known.
  public var limit: Duration?
  /// What our own socket saw last.
  public var socket: SocketCondition
  /// Whether the connection is one over TLS.
  public var isSecure: Bool
  /// The proxy that failed, as it is shown; nil where the server did, or what leads to it.
  public var proxy: String?

  /// A failure in `phase` at `host`.
  public init(
    observation: Observation, phase: ConnectionPhase, host: String = "", port: Int? = nil,
    path: String = "/", timeout: Int = 10, socket: SocketCondition = .open, isSecure: Bool = true,
    proxy: String? = nil
  ) {
    self.observation = observation
    self.phase = phase
    self.host = host
    self.port = port
    self.path = path
    self.timeout = timeout
    self.socket = socket
    self.isSecure = isSecure
    self.proxy = proxy
  }
}
