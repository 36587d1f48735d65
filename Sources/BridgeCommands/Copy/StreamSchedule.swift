import BridgeTransport
import BridgeWaiting

/// Which link carries which stream of a copy: each its own first, then what is left. A link that is
/// never up, or refused, leaves its stream to the others.
package struct StreamSchedule: Sendable {
  private enum Stream: Sendable {
    case free
    case carried
    case settled
  }

  private var streams: [Stream]

  /// So many streams, none of which is carried.
  package init(_ count: Int) { streams = [Stream](repeating: .free, count: count) }

  /// Whether all are settled.
  package var isDone: Bool { streams.allSatisfy { $0 == .settled } }

  /// Whether one of them waits for a link.
  package var hasFree: Bool { streams.contains(.free) }

  /// The stream that a link carries next; nil while all others are carried or settled.
  package mutating func take(for link: Int) -> Int? {
    let own = streams.indices.first { $0 == link && streams[$0] == .free }
    guard let next = own ?? streams.firstIndex(of: .free) else { return nil }
    streams[next] = .carried
    return next
  }

  /// A link no longer carries a stream.
  package mutating func release(_ stream: Int, isSettled: Bool) {
    streams[stream] = isSettled ? .settled : .free
  }
}

/// Hands the streams of a copy out to those that carry them.
final class StreamQueue: Sendable {
  private struct State {
    var schedule: StreamSchedule
    var isStopped = false
    var callers = WaitList<Void>()

    /// Whether nothing more is handed out.
    var isOver: Bool { schedule.isDone || isStopped }
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(schedule: StreamSchedule(count))) }

  /// Whether nothing more is handed out.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The stream that a link carries next, as soon as one is free; nil where all are settled, or the
  /// caller is canceled.
  func next(for link: Int) async -> Int? {
    while !Task.isCancelled, !isOver {
      await state.wait(in: \.callers, canceled: ()) { state in
        state.isOver || state.schedule.hasFree ? () : nil
      }
      let stream = state.withLock { $0.isOver ? nil : $0.schedule.take(for: link) }
      if let stream { return stream }
    }
    return nil
  }

  func release(_ stream: Int, isSettled: Bool) {
    change { $0.schedule.release(stream, isSettled: isSettled) }
  }

  /// Hands nothing more out.
  func stop() { change { $0.isStopped = true } }

  private func change(_ body: (inout State) -> Void) {
    let callers = state.withLock { state in
      body(&state)
      return state.callers.takeAll()
    }
    for caller in callers { caller.resume() }
  }
}
