import BridgeFiles
import Synchronization

/// A copy that may be ended from elsewhere.
final class SharedCopy: Sendable {
  private let copy: Mutex<StripedCopy>

  init(_ copy: sending StripedCopy) { self.copy = Mutex(copy) }

  /// Ends a stream's part in its run, as where its link is lost.
  func disconnect(_ index: Int) {
    copy.withLock { $0.streams[index].receiver.disconnect() }
  }
}
