public import BridgeErrors

/// How to reach and trust a WebSocket server, and how much to keep of what it sends.
public struct WebSocketConfiguration: Sendable {
  /// The trust anchors of the server's certificate.
  public enum Trust: Sendable, Hashable {
    /// The authorities of this machine.
    case system
    /// The authorities in this PEM file, and no other.
    case authority(file: String)
    /// Only this public key, independent of the issuer: the SHA-256 of its
    /// SubjectPublicKeyInfo (RFC 7469, 2.4), 32 bytes. Issuer, name and dates do not matter then.
    case pinned(sha256: [UInt8])
  }

  /// A header field of the upgrade request.
  public struct Header: Sendable {
    /// The field's name (RFC 9110, 5.1).
    public var name: String
    /// Its value; may be a token, so it never shows.
    public var value: Secret

    /// The field `name: value`.
    public init(_ name: String, _ value: Secret) {
      self.name = name
      self.value = value
    }
  }

  /// The total time each phase may take.
  public struct Timeouts: Sendable, Equatable {
    /// Name resolution.
    public var resolve: Duration = .seconds(5)
    /// TCP, all addresses together. Through a proxy: to the proxy, and again from there. By a
    /// socket of another source: until it is there.
    public var dial: Duration = .seconds(10)
    /// TLS and the upgrade together.
    public var upgrade: Duration = .seconds(10)
    /// A close from the close frame to the end of the socket. The server's answer is awaited for
    /// three quarters of it.
    public var close: Duration = .seconds(1)

    /// The defaults.
    public init() {}
  }

  /// Further header fields of the request, in order.
  public var headers: [Header] = []
  /// A bearer token (RFC 6750, 2.1).
  public var bearer: Secret?
  /// Subprotocols to offer, best first (RFC 6455, 1.9).
  public var subprotocols: [String] = []
  /// The trust anchors; not used for `ws`.
  public var trust = Trust.system
  /// The certificate of this client, for a server that wants one; not used for `ws`.
  public var identity: ClientIdentity?
  /// The name of the server in its certificate, in TLS (RFC 6066, 3) and in the Host field, where
  /// it is reached at another one: through a forwarded port, by its address; nil for that of the
  /// URL.
  public var serverName: String?
  /// The way to the server.
  public var way = WebSocketWay.direct
  /// How long each phase may take.
  public var timeouts = Timeouts()
  /// The longest message that is taken, in bytes; a longer one ends the connection (close 1009).
  public var messageLimit = 16 << 20
  /// How many bytes of messages are kept for a reader before no more are read.
  public var receiveBuffer = 1 << 20
  /// How many bytes wait to be written before `send` waits.
  public var sendBuffer = 256 << 10
  /// Takes the facts of the connection, on the reactor's thread: it must not block.
  package var observer: (@Sendable (WebSocketFact) -> Void)?

  /// The defaults.
  public init() {}
}
