public import BridgeErrors
import BridgeTransport
package import BridgeWaiting

/// The output of a remote command, as it comes: bounded, for one reader, with back-pressure to the
/// server.
///
/// A stream without a reader fills up and then holds back its channel: read both streams, or
/// `discard` one. It keeps its connection alive.
public struct ByteStream: AsyncSequence, Sendable {
  /// Some bytes, at least one.
  public typealias Element = [UInt8]
  /// The error that ended the stream before its end.
  public typealias Failure = AppError

  let mailbox: ByteMailbox
  /// The channel that fills the mailbox: without it a reader would wait forever.
  let connection: SSHConnection

  /// Takes the bytes in order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let mailbox: ByteMailbox
    let connection: SSHConnection

    /// The next bytes, nil at the end.
    ///
    /// - Throws: what ended the connection, or `cancelled`.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> [UInt8]? {
      try await mailbox.next()
    }
  }

  /// An iterator; two of one stream share its bytes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(mailbox: mailbox, connection: connection)
  }

  /// Throws away what has come and what will come.
  public func discard() {
    mailbox.discard()
  }

  /// Throws away what comes beyond its first `limit` bytes, whether they are read or not.
  package func discard(beyond limit: Int) { mailbox.discard(beyond: limit) }
}

/// The queue behind a `ByteStream`.
package typealias ByteMailbox = Mailbox<[UInt8]>

extension ByteMailbox {
  /// A queue for `limit` bytes. A chatty command must not cost an array for each of its words:
  /// chunks of less than `smallChunk` bytes are joined while they wait.
  package convenience init(
    limit: Int, joiningBelow smallChunk: Int = 8 << 10,
    hasSpaceAgain: @escaping @Sendable () -> Void
  ) {
    let rule = Rule { last, next in
      guard last.count < smallChunk, next.count < smallChunk else { return false }
      last += next
      return true
    } weight: {
      $0.count
    }
    self.init(limit: limit, rule, hasSpaceAgain: hasSpaceAgain)
  }
}
