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
actor StreamQueue {
  private var schedule: StreamSchedule
  private var isStopped = false
  private var callers: [Int: CheckedContinuation<Void, Never>] = [:]
  private var last = 0

  init(_ count: Int) { schedule = StreamSchedule(count) }

  /// Whether nothing more is handed out.
  var isOver: Bool { schedule.isDone || isStopped }

  /// The stream that a link carries next, as soon as one is free; nil where all are settled, or the
  /// caller is canceled.
  func next(for link: Int) async -> Int? {
    while !Task.isCancelled, !isOver {
      if let stream = schedule.take(for: link) { return stream }
      await change()
    }
    return nil
  }

  func release(_ stream: Int, isSettled: Bool) {
    schedule.release(stream, isSettled: isSettled)
    resumeAll()
  }

  /// Hands nothing more out.
  func stop() {
    isStopped = true
    resumeAll()
  }

  private func resumeAll() {
    let waiting = callers
    callers = [:]
    for caller in waiting.values { caller.resume() }
  }

  private func change() async {
    last += 1
    let ticket = last
    await withTaskCancellationHandler {
      await withCheckedContinuation { caller in
        if Task.isCancelled { caller.resume() } else { callers[ticket] = caller }
      }
    } onCancel: {
      _ = Task(executorPreference: nil) { await self.resume(ticket) }
    }
  }

  private func resume(_ ticket: Int) { callers.removeValue(forKey: ticket)?.resume() }
}
