public import BridgeErrors
import BridgeWaiting

/// The messages of one connection, as they come: bounded, for one reader, with back-pressure to the
/// server.
///
/// A stream without a reader fills up; then nothing more is read from the socket: read it, or
/// `discard` it. It ends with nil after a close that we asked for, or one with code 1000; else it
/// throws what ended the connection, after the messages that came before.
public struct MessageStream: AsyncSequence, Sendable {
  /// A whole message.
  public typealias Element = WebSocketMessage
  /// The error that ended the connection.
  public typealias Failure = AppError

  /// The connection of the messages: a reader keeps it alive.
  let connection: WebSocketConnection

  /// Takes the messages in order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let connection: WebSocketConnection

    /// The next message, nil at the end.
    ///
    /// - Throws: what ended the connection, or `cancelled`.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> WebSocketMessage? {
      try await connection.mailbox.next()
    }
  }

  /// An iterator; two of one stream share its messages.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(connection: connection)
  }

  /// Throws away what has come and what will come: a program that only sends still reads.
  public func discard() {
    connection.mailbox.discard()
  }
}
