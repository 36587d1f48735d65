import BridgeSSH
import BridgeWaiting

/// The sizes of the terminal from now on, for the session that lives.
final class Resizes: Sendable {
  /// The state to pass on to the remote side.
  struct Change: Sendable {
    var size: TerminalSize
    /// The screen is to be drawn again, also where the size is as it was.
    var isRedraw = false
  }

  private let sink = Mutex(AsyncStream<Change>.Continuation?.none)

  /// A stream for the next session; the last one's ends.
  func next() -> AsyncStream<Change> {
    let (stream, next) = AsyncStream.makeStream(
      of: Change.self, bufferingPolicy: .bufferingNewest(1))
    let last = sink.withLock { sink in
      defer { sink = next }
      return sink
    }
    last?.finish()
    return stream
  }

  func yield(_ change: Change) {
    _ = sink.withLock { $0?.yield(change) }
  }
}
