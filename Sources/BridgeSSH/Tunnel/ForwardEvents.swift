import BridgeTransport
import BridgeWaiting

/// The events of a forwarder for its one reader. One that is further behind than `limit` finds the
/// number of those that it missed in their place.
final class ForwardEvents: Sendable {
  /// More than a thousand connections bring about that open and end at once.
  static let limit = 4096

  fileprivate struct State {
    var events: [Forwarder.Event] = []
    /// Events before the first one of `events` that were dropped.
    var missed = 0
    var isFinished = false
    var readers = WaitList<Void>()
  }

  private let state = Mutex(State())

  /// The events, read one by one.
  var stream: AsyncStream<Forwarder.Event> { AsyncStream(unfolding: next) }

  func add(_ event: Forwarder.Event) {
    let reader = state.withLock { state -> WaitList<Void>.Caller? in
      guard !state.isFinished else { return nil }
      state.events.append(event)
      // Half at once: the rest moves once for many events.
      if state.events.count > Self.limit {
        state.missed += Self.limit / 2
        state.events.removeFirst(Self.limit / 2)
      }
      return state.readers.takeFirst()
    }
    reader?.resume()
  }

  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      return state.readers.takeAll()
    }
    for reader in readers { reader.resume() }
  }

  /// The next event; nil after the last one, and where the task is canceled.
  private func next() async -> Forwarder.Event? {
    while !Task.isCancelled {
      let (event, isOver) = state.withLock { state in (state.take(), state.isFinished) }
      if let event { return event }
      guard !isOver else { return nil }
      await state.wait(in: \.readers, canceled: ()) { state in
        state.hasSomething ? () : nil
      }
    }
    return nil
  }
}

extension ForwardEvents.State {
  fileprivate var hasSomething: Bool { missed > 0 || !events.isEmpty || isFinished }

  fileprivate mutating func take() -> Forwarder.Event? {
    guard missed == 0 else {
      defer { missed = 0 }
      return .missed(count: missed)
    }
    return events.isEmpty ? nil : events.removeFirst()
  }
}
