import BridgeSSH
import BridgeWaiting

/// The sizes of the terminal from now on, for the session that lives.
final class Resizes: Sendable {
  private let sink = Mutex(AsyncStream<TerminalSize>.Continuation?.none)

  /// A stream for the next session; the last one's ends.
  func next() -> AsyncStream<TerminalSize> {
    let (stream, next) = AsyncStream.makeStream(
      of: TerminalSize.self, bufferingPolicy: .bufferingNewest(1))
    let last = sink.withLock { sink in
      defer { sink = next }
      return sink
    }
    last?.finish()
    return stream
  }

  func yield(_ size: TerminalSize) {
    _ = sink.withLock { $0?.yield(size) }
  }
}
