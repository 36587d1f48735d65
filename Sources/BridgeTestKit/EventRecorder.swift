import BridgeTransport
import BridgeWaiting

/// Records events in order, from any thread.
public final class EventRecorder<Event: Sendable>: Sendable {
  private let state = Mutex<[Event]>([])

  /// A recorder that has seen nothing.
  public init() {}

  /// Everything so far, oldest first.
  public var events: [Event] { state.withLock { $0 } }

  /// Records `event`.
  public func record(_ event: Event) {
    state.withLock { $0.append(event) }
  }
}
