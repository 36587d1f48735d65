public import BridgeErrors

/// The output of a durable session, once and in order, for one reader.
///
/// Nothing is lost when a connection ends: the stream waits and goes on at the byte. It ends after
/// the program's last byte, or when this client leaves. Bounded: a reader that stops holds back the
/// host after a window (4 MiB).
public struct SessionOutput: AsyncSequence, Sendable {
  /// Bytes, or a gap in their place.
  public typealias Element = SessionChunk
  /// Why the session is over for this client.
  public typealias Failure = AppError

  let session: DurableSession

  /// Takes the chunks in order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let session: DurableSession

    /// The next chunk; nil at the end.
    ///
    /// - Throws: why the session is over for this client; `cancelled`.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> SessionChunk? {
      try await session.next()?.first
    }

    /// The next chunk, and those behind it that have come, while all of them have at most `limit`
    /// bytes; nil at the end.
    ///
    /// - Throws: why the session is over for this client; `cancelled`.
    package func next(
      upTo limit: Int, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> [SessionChunk]? {
      try await session.next(upTo: limit)
    }
  }

  /// An iterator; two of one session share its output.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(session: session) }
}
