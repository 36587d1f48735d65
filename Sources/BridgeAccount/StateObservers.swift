/// The observers of a model's state. Every observer sees the newest state only, so a slow one costs
/// one state and never a queue.
struct StateObservers<State: Sendable & Equatable> {
  private var nextID = 0
  private var continuations: [Int: AsyncStream<State>.Continuation] = [:]

  /// A stream that begins with `state`.
  mutating func add(startingWith state: State) -> AsyncStream<State> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: State.self, bufferingPolicy: .bufferingNewest(1))
    nextID += 1
    continuations[nextID] = continuation
    continuation.yield(state)
    return stream
  }

  /// Sends the state to all observers; observers that stopped reading are removed.
  mutating func publish(_ state: State) {
    for (id, continuation) in continuations {
      if case .terminated = continuation.yield(state) { continuations[id] = nil }
    }
  }
}
