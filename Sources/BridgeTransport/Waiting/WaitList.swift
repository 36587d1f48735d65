/// Callers that wait for an answer, each answered exactly once: part of the state under a lock, and
/// used by `Mutex.wait`.
package struct WaitList<Answer: Sendable>: Sendable {
  /// A caller that was taken out of the list, to be answered by its owner.
  package typealias Caller = CheckedContinuation<Answer, Never>

  private enum Entry: Sendable {
    /// Not suspended yet.
    case begun
    /// Canceled before it was suspended.
    case canceled
    case waiting(Caller)
  }

  private var entries: [Int: Entry] = [:]
  private var lastTicket = 0

  /// Creates an empty list.
  package init() {}

  /// How many callers wait.
  package var count: Int { entries.values.count { if case .waiting = $0 { true } else { false } } }

  /// Takes the caller that has waited longest out of the list.
  package mutating func takeFirst() -> Caller? {
    let waiting = entries.filter { if case .waiting = $0.value { true } else { false } }
    guard let first = waiting.keys.min() else { return nil }
    return take(first)
  }

  /// Takes all callers out of the list, in the order in which they came.
  package mutating func takeAll() -> [Caller] {
    entries.keys.sorted().compactMap { take($0) }
  }

  fileprivate mutating func begin() -> Int {
    lastTicket += 1
    entries[lastTicket] = .begun
    return lastTicket
  }

  /// Whether the caller was canceled before; else it waits from now on unless it has an answer.
  fileprivate mutating func suspend(
    _ ticket: Int, _ caller: Caller, unless answer: Answer?
  ) -> Answer? {
    guard answer == nil else { return answer }
    entries[ticket] = .waiting(caller)
    return nil
  }

  fileprivate func isCanceled(_ ticket: Int) -> Bool {
    if case .canceled = entries[ticket] { true } else { false }
  }

  fileprivate mutating func cancel(_ ticket: Int) -> Caller? {
    if let caller = take(ticket) { return caller }
    if case .begun = entries[ticket] { entries[ticket] = .canceled }
    return nil
  }

  fileprivate mutating func end(_ ticket: Int) { entries[ticket] = nil }

  private mutating func take(_ ticket: Int) -> Caller? {
    guard case .waiting(let caller) = entries[ticket] else { return nil }
    entries[ticket] = nil
    return caller
  }
}

extension Mutex {
  /// Waits for an answer.
  ///
  /// The state's owner takes callers out of `list` under the lock and resumes them after it.
  /// Removal from the list is the one right to answer: each caller is answered exactly once.
  ///
  /// - Parameters:
  ///   - list: where the caller waits.
  ///   - canceled: the answer to a caller whose task is canceled.
  ///   - answer: called under the lock: the answer that is there already, or nil to wait.
  package func wait<Answer: Sendable>(
    in list: any WritableKeyPath<State, WaitList<Answer>> & Sendable,
    canceled: Answer, unless answer: (inout State) -> Answer?
  ) async -> Answer {
    let ticket = withLock { $0[keyPath: list].begin() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (caller: WaitList<Answer>.Caller) in
        let known = withLock { state -> Answer? in
          if state[keyPath: list].isCanceled(ticket) { return canceled }
          let known = answer(&state)
          return state[keyPath: list].suspend(ticket, caller, unless: known)
        }
        if let known { caller.resume(returning: known) }
      }
    } onCancel: {
      withLock { $0[keyPath: list].cancel(ticket) }?.resume(returning: canceled)
    }
    withLock { $0[keyPath: list].end(ticket) }
    return result
  }
}
