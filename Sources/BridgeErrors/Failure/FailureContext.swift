/// What travels beside an `AppError` of a connection: where, how and why it failed.
///
/// Hint, retry class and exit code are functions of (`AppError`, `FailureContext`).
public struct FailureContext: Sendable, Equatable {
  /// The row of the failure table.
  public var kind: FailureKind
  /// The phase the connection was in.
  public var phase: ConnectionPhase
  /// The host as the user named it.
  public var host: String
  /// The name or address that was dialed, where that is another one.
  public var address: String?
  /// The TCP port, where one is known.
  public var port: Int?
  /// What the native side reported, where there was one.
  public var native: NativeFailure?
  /// The reason of an SSH_MSG_DISCONNECT (RFC 4253, 11.1).
  public var disconnectReason: Int?
  /// A fact that sharpens the hint (a redirect's target, an algorithm list, a key type): escaped
  /// and bounded.
  public var detail: String?
  /// The wait that the server requires (Retry-After), in seconds.
  public var retryAfter: Int?
  /// How many dials in a row ended like this in this phase, or how many connections in a row right
  /// after they came up, this one included; nil for one, and where this is not counted.
  public var repeats: Int?
  /// The proxy that the failure is about, where it is about one: escaped and bounded.
  public var proxy: String?
  /// The methods that the server takes, where it refused a login: separated by commas, escaped.
  public var acceptedMethods: String?
  /// A command for a person to copy that removes the cause, where one does: escaped and bounded.
  public var command: String?
  /// The time that the peer had to answer, exactly, where that is known.
  public var limit: Duration?
  /// Whether the command whose status did not come is known to have been started.
  public var wasStarted = false

  /// A context of `kind` in `phase` at `host`.
  public init(
    kind: FailureKind, phase: ConnectionPhase, host: String,
    address: String? = nil, port: Int? = nil,
    native: NativeFailure? = nil, disconnectReason: Int? = nil, detail: String? = nil,
    retryAfter: Int? = nil, repeats: Int? = nil, proxy: String? = nil,
    command: String? = nil
  ) {
    self.kind = kind
    self.phase = phase
    self.host = host
    self.address = address
    self.port = port
    self.native = native
    self.disconnectReason = disconnectReason
    self.detail = detail
    self.retryAfter = retryAfter
    self.repeats = repeats
    self.proxy = proxy
    self.command = command
  }
}
