public import BridgeErrors

/// An ordered stream of bytes each way, to one program at the other end. It is opened once, ends
/// once, and never reopens.
public protocol ByteChannel: Sendable {
  /// The next bytes from the peer, at least one; nil at the end. One reader at a time.
  ///
  /// - Throws: what ended the channel before its end; `cancelled`.
  func read() async throws(AppError) -> [UInt8]?

  /// Sends bytes; returns when the channel has taken all of them, which holds back a sender that is
  /// faster than the peer.
  ///
  /// - Throws: what ended the channel; `cancelled` (some of the bytes may have gone).
  func write(_ bytes: [UInt8]) async throws(AppError)

  /// Ends what this side sends, after all that was written.
  ///
  /// - Throws: what ended the channel; `cancelled`.
  func finish() async throws(AppError)

  /// Ends both directions. Safe to call again, and after the end.
  func close() async

  /// Why it ended; waits until it has.
  func ending() async -> ByteChannelEnding
}
