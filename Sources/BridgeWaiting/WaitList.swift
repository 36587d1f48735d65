/// Callers that wait for an answer, each answered exactly once: part of the state under a lock, and
/// used by `Mutex.wait`.
///
/// Waiting is on the way of each typed key: it and `Promise` are inlinable, because a generic type
/// of another module is else made out anew at each use.
public struct WaitList<Answer: Sendable>: Sendable {
  /// A caller that was taken out of the list, to be answered by its owner.
  public typealias Caller = CheckedContinuation<Answer, Never>

  @usableFromInline enum Phase: Sendable {
    /// Not suspended yet.
    case begun
    /// Canceled before it was suspended.
    case canceled
    case waiting(Caller)
  }

  @usableFromInline struct Entry: Sendable {
    @usableFromInline let ticket: Int
    @usableFromInline var phase: Phase

    @inlinable init(ticket: Int, phase: Phase) {
      self.ticket = ticket
      self.phase = phase
    }

    @inlinable var caller: Caller? { if case .waiting(let caller) = phase { caller } else { nil } }
  }

  /// In the order in which they came; they are few.
  @usableFromInline var entries: [Entry] = []
  @usableFromInline var lastTicket = 0

  /// Creates an empty list.
  @inlinable public init() {}

  /// How many callers wait.
  public var count: Int { entries.count { $0.caller != nil } }

  /// Takes the caller that has waited longest out of the list.
  @inlinable public mutating func takeFirst() -> Caller? {
    guard let index = entries.firstIndex(where: { $0.caller != nil }) else { return nil }
    return entries.remove(at: index).caller
  }

  /// Takes all callers out of the list, in the order in which they came.
  @inlinable public mutating func takeAll() -> [Caller] {
    guard !entries.isEmpty else { return [] }
    let callers = entries.compactMap(\.caller)
    entries.removeAll { $0.caller != nil }
    return callers
  }

  @inlinable mutating func begin() -> Int {
    lastTicket += 1
    entries.append(Entry(ticket: lastTicket, phase: .begun))
    return lastTicket
  }

  /// Whether the caller was canceled before; else it waits from now on unless it has an answer.
  @inlinable mutating func suspend(_ ticket: Int, _ caller: Caller, unless answer: Answer?)
    -> Answer?
  {
    guard answer == nil, let index = index(of: ticket) else { return answer }
    entries[index].phase = .waiting(caller)
    return nil
  }

  @inlinable func isCanceled(_ ticket: Int) -> Bool {
    guard let index = index(of: ticket), case .canceled = entries[index].phase else { return false }
    return true
  }

  @inlinable mutating func cancel(_ ticket: Int) -> Caller? {
    guard let index = index(of: ticket) else { return nil }
    switch entries[index].phase {
    case .waiting(let caller):
      entries.remove(at: index)
      return caller
    case .begun, .canceled:
      entries[index].phase = .canceled
      return nil
    }
  }

  @inlinable mutating func end(_ ticket: Int) {
    if let index = index(of: ticket) { entries.remove(at: index) }
  }

  @inlinable func index(of ticket: Int) -> Int? { entries.firstIndex { $0.ticket == ticket } }
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
  @inlinable public func wait<Answer: Sendable>(
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
