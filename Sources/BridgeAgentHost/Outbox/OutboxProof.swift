/// What proves that a message of an outbox has arrived.
public enum OutboxProof: Sendable {
  /// A pong behind it (RFC 6455, 5.5.3): the peer's WebSocket has it, and its application may not
  /// have read it yet. Messages are sent as they are.
  case pong
  /// The peer's application says so: a message is sent as `{"id":"ID","text":"TEXT"}`, and
  /// `{"ack":"ID"}` comes back once it has done its work. One that comes again has the same id.
  case acknowledgement
}
