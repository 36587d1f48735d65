import BridgeSessionProtocol

/// Readers of a session whose connection was lost. They come back for the rest: the session stays
/// when its own client has all of it.
struct LostReaders {
  /// How long one is expected, in milliseconds: longer than outages that are waited out.
  private static let limit: Milliseconds = 15 * 60_000
  /// More are not remembered one by one.
  private static let most = 64

  private var clients: [ClientID: Milliseconds] = [:]
  /// `logs` and `wait`, which have no names.
  private var callers: [Milliseconds] = []

  /// An attachment ended without a word of its client.
  mutating func lose(_ client: ClientID, at now: Milliseconds) {
    if clients.count < Self.most { clients[client] = now }
  }

  /// The client is attached.
  mutating func find(_ client: ClientID) { clients[client] = nil }

  mutating func loseCaller(at now: Milliseconds) {
    if callers.count < Self.most { callers.append(now) }
  }

  /// One of those that were lost may be this one.
  mutating func findCaller() { if !callers.isEmpty { callers.removeFirst() } }

  /// Whether one may still come.
  func areExpected(at now: Milliseconds) -> Bool {
    (Array(clients.values) + callers).contains { now < $0 + Self.limit }
  }
}
