package import BridgeErrors
import BridgeWaiting

/// What joins the requests of many callers for the one worker of a store.
package final class StoreQueue: Sendable {
  /// A request and its number, which grows with each: one that comes twice, because its outcome was
  /// not known, is recognized by that.
  package struct Entry: Sendable {
    /// Its number.
    package let number: Int
    /// The request.
    package let request: StoreRequest
  }

  private typealias Answer = Promise<Result<StoreAnswer, AppError>>

  private struct State {
    var line: RequestLine
    var answers: [Int: Answer] = [:]
  }

  private let store: String
  private let state: Mutex<State>
  private let observers = ChangeObservers()
  private let closed = Latch()

  /// An empty queue of the store of this name.
  package init(store: String, limits: StoreLimits) {
    self.store = store
    state = Mutex(State(line: RequestLine(limits)))
  }

  // MARK: Callers

  /// Puts a request behind the others, and waits for its answer.
  ///
  /// - Parameter start: begins the work, which goes on until `next` has nothing.
  /// - Throws: as `AgentStore.perform`.
  package func perform(
    _ request: StoreRequest, start: () -> Void
  ) async throws(AppError) -> StoreAnswer {
    try StoreLimits.check(request)
    let answer = Answer()
    let admission = state.withLock { state in
      let admission = state.line.append(request)
      switch admission {
      case .first(let number), .taken(let number): state.answers[number] = answer
      case .full, .closed: break
      }
      return admission
    }
    switch admission {
    case .taken: break
    case .first: start()
    case .full: throw unavailable("too many requests wait for it")
    case .closed: throw .cancelled
    }
    return try await answer.value { answer.fulfill(.failure(.cancelled)) }.get()
  }

  /// An element after each change; see `AgentStore.changes`.
  package func changes() -> AsyncStream<Void> { observers.add() }

  /// Takes no more requests; returns when all are answered.
  ///
  /// - Parameter wake: wakes a worker that waits.
  package func close(wake: () -> Void) async {
    beginClosing()
    wake()
    await closed.wait()
  }

  /// Takes no more requests, and ends the work when all are answered.
  package func beginClosing() {
    let isOver = state.withLock { state in
      state.line.close()
      return state.line.isOver
    }
    if isOver { finishClosing() }
  }

  // MARK: The worker

  /// The requests of the next transaction; empty where nothing is left: then the worker returns.
  package func next() -> [Entry] {
    let (entries, isOver) = state.withLock { state in (state.line.next(), state.line.isOver) }
    if isOver { finishClosing() }
    return entries.map { Entry(number: $0.number, request: $0.request) }
  }

  /// Whether it was closed and all is answered.
  package var isOver: Bool { state.withLock { $0.line.isOver } }

  /// Answers the requests that `next` has returned: their transaction is on disk.
  package func finish(_ entries: [Entry], _ results: [Result<StoreAnswer, AppError>]) {
    let answers = state.withLock { state in
      state.line.finish()
      return entries.map { state.answers.removeValue(forKey: $0.number) }
    }
    var isChanged = false
    for ((entry, answer), result) in zip(zip(entries, answers), results) {
      if case .success = result, entry.request.isChange { isChanged = true }
      answer?.fulfill(result)
    }
    if isChanged { observers.announce() }
  }

  /// Fails the requests that `next` has returned: nothing of their transaction was kept.
  package func fail(_ entries: [Entry], _ error: AppError) {
    finish(entries, entries.map { _ in .failure(error) })
  }

  /// Fails all requests: the store has not answered for too long, or cannot be used any more.
  package func giveUp(_ error: AppError) {
    let (given, isOver) = state.withLock { state in
      let (begun, waiting) = state.line.giveUp()
      let given = (begun + waiting).map { state.answers.removeValue(forKey: $0.number) }
      return (given, state.line.isOver)
    }
    for answer in given { answer?.fulfill(.failure(error)) }
    if isOver { finishClosing() }
  }

  private func unavailable(_ reason: String) -> AppError {
    .storeUnusable(store: store, problem: .unavailable(reason: reason))
  }

  /// Reports a change that another host made.
  package func announceChange() { observers.announce() }

  private func finishClosing() {
    observers.finish()
    closed.open()
  }
}
