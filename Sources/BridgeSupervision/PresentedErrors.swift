public import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// What a person sees, from the call of `Supervisor.presented` on, for one reader: the shown error
/// first, then those behind it, most severe first.
///
/// The first element is the present state, empty where all is well. A new one follows when an error
/// is added, changed or removed, and each second while one counts down to the next attempt. A slow
/// reader skips states and has the newest one next. The sequence ends with the supervisor: after
/// `shutDown`, or when a supervisor without links is released.
public struct PresentedErrors: AsyncSequence, Sendable {
  /// The errors on the screen. The time of a plan is what is left of its wait.
  public typealias Element = [PresentedError]
  /// It does not fail.
  public typealias Failure = Never

  let reader: NewestValue<[PresentedError]>.Reader

  /// A reader; two of one sequence share its elements.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

  /// One pass over the states.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: NewestValue<[PresentedError]>.Reader

    /// The newest state that was not read yet; nil when the supervisor is gone or the task is
    /// canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> [PresentedError]? {
      await reader.next()
    }
  }
}

/// The newest of a series of values, for many readers, without ever waiting for one.
final class NewestValue<Value: Sendable & Equatable>: Sendable {
  private struct State {
    /// By reader: the value that it has not read yet.
    var unread: [Int: Value] = [:]
    var readers: Set<Int> = []
    var lastReader = 0
    var newest: Value?
    var isFinished = false
    private var waiting: [Int: WaitList<Value?>] = [:]

    /// The iterators of one reader that wait.
    subscript(callersOf reader: Int) -> WaitList<Value?> {
      get { waiting[reader] ?? WaitList() }
      set { waiting[reader] = readers.contains(reader) ? newValue : nil }
    }

    mutating func remove(_ reader: Int) {
      readers.remove(reader)
      (unread[reader], waiting[reader]) = (nil, nil)
    }
  }

  private let state = Mutex(State())

  /// A registration, for as long as it exists.
  final class Reader: Sendable {
    private let values: NewestValue
    private let number: Int

    fileprivate init(_ values: NewestValue, _ number: Int) {
      self.values = values
      self.number = number
    }

    deinit { values.end(number) }

    func next() async -> Value? { await values.next(number) }
  }

  /// Whether a value would be read.
  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

  /// Registers a reader whose first value is `value`.
  func subscribe(_ value: Value) -> Reader {
    // It is the newest one for all: a reader that is there already must not miss it.
    publish(value)
    let number = state.withLock { state in
      state.lastReader += 1
      state.readers.insert(state.lastReader)
      state.unread[state.lastReader] = state.newest ?? value
      return state.lastReader
    }
    return Reader(self, number)
  }

  /// Gives `value` to all readers, unless it is the newest one already.
  func publish(_ value: Value) {
    let callers = state.withLock { state -> [WaitList<Value?>.Caller] in
      guard value != state.newest else { return [] }
      state.newest = value
      var callers: [WaitList<Value?>.Caller] = []
      for reader in state.readers {
        if let caller = state[callersOf: reader].takeFirst() {
          callers.append(caller)
        } else {
          state.unread[reader] = value
        }
      }
      return callers
    }
    for caller in callers { caller.resume(returning: value) }
  }

  /// Ends all sequences, each after its last value.
  func finish() {
    let callers = state.withLock { state in
      state.isFinished = true
      return state.readers.flatMap { state[callersOf: $0].takeAll() }
    }
    for caller in callers { caller.resume(returning: nil) }
  }

  private func next(_ reader: Int) async -> Value? {
    await state.wait(in: \.[callersOf: reader], canceled: nil) { state in
      if let value = state.unread.removeValue(forKey: reader) { return .some(value) }
      return state.isFinished || !state.readers.contains(reader) ? .some(nil) : nil
    }
  }

  private func end(_ reader: Int) {
    state.withLock { $0.remove(reader) }
  }
}
