/// How much the page gives a caller at most.
public struct ConsoleLimits: Sendable, Hashable {
  /// Connections at once.
  public var connections: Int
  /// Streams of events at once.
  public var streams: Int
  /// Screens of agents that are seen at once; each has a channel to its machine.
  public var screens: Int
  /// Browsers that are logged in at once; one more ends the oldest login.
  public var sessions: Int
  /// Bytes of the body of a request.
  public var body: Int
  /// Bytes of the header fields of a request.
  public var headers: Int
  /// Events kept for streams that were away.
  public var events: Int
  /// Bytes of the events that are kept.
  public var eventBytes: Int
  /// Failed logins of one address before it has to wait.
  public var attempts: Int
  /// How long a login lasts.
  public var login: Duration
  /// How long a browser may take nothing of what is sent to it, as one does that sleeps, or is out
  /// of reach: its connection ends then.
  public var unread: Duration

  /// Limits; each has the default of the library.
  public init(
    connections: Int = 256, streams: Int = 100, screens: Int = 16, sessions: Int = 64,
    body: Int = 64 << 10, headers: Int = 16 << 10, events: Int = 512, eventBytes: Int = 1 << 20,
    attempts: Int = 10, login: Duration = .seconds(12 * 3600), unread: Duration = .seconds(60)
  ) {
    self.connections = connections
    self.streams = streams
    self.screens = screens
    self.sessions = sessions
    self.body = body
    self.headers = headers
    self.events = events
    self.eventBytes = eventBytes
    self.attempts = attempts
    self.login = login
    self.unread = unread
  }
}
