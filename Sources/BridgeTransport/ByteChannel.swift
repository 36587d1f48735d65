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

  /// Sends bytes without waiting, where the caller is on the channel's own thread and all that it
  /// was given before is sent; false, and nothing is sent, elsewhere.
  ///
  /// - Parameter bytes: called where they are sent.
  func post(_ bytes: () -> [UInt8]) -> Bool

  /// Ends what this side sends, after all that was written.
  ///
  /// - Throws: what ended the channel; `cancelled`.
  func finish() async throws(AppError)

  /// Ends both directions. Safe to call again, and after the end.
  func close() async

  /// Why it ended; waits until it has.
  func ending() async -> ByteChannelEnding

  /// Whether the other side of the link answers now, whatever the program does: asked where a
  /// channel has ended without a word of the program. True where that cannot be asked.
  func peerAnswers() async -> Bool
}

extension ByteChannel {
  /// Sends nothing: each caller waits.
  public func post(_ bytes: () -> [UInt8]) -> Bool { false }

  /// Takes it for one that answers.
  public func peerAnswers() async -> Bool { true }
}
